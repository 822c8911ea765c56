"""The number of generated cases in a suite: fewer in `make test`, which must end in minutes, than in `make test-all`."""
import os


def amount(name, few, many):
    """Returns the number of the environment variable `name`, or else one of these two."""
    return int(os.environ.get(name) or (many if os.environ.get("TEST_ALL") else few))
