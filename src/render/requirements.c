#include <string.h>

#include "base/str.h"
#include "target.h"
