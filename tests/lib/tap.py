"""TAP for suites: tell() prints each result, done() the plan at the end."""

count = failed = 0


def tell(good, what, why="", skip=None):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {what}" + (f" # SKIP {skip}" if skip else ""), flush=True)
    if not good:
        print("\n".join("# " + x[:300] for x in str(why).split("\n")[-25:]), flush=True)
    return good


def done():
    print(f"1..{count}", flush=True)
