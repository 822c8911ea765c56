"""The speed of this machine now: the limits of CPU time grow with it, so that they hold on slow and busy machines."""
import time

LOOP_S = 0.07  # the loop below on the machine whose figures the limits have


def slowness():
    """Returns how many times slower than that machine this one is, at least 1."""
    before = time.process_time()
    sum(i * i for i in range(1000000))
    return max(1, (time.process_time() - before) / LOOP_S)
