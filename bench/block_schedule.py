#!/usr/bin/env python3
"""What the rows and the order of a fused stencil's blocks are worth, without a GPU.

    bench/block_schedule.py [--verbose]

Blocks are scheduled one by one on 132 multiprocessors, those of one multiprocessor share it. An iteration takes the cycles of the formula of
schedule/src/stencil/cost.rs, with instructions an iteration as five stencils have them (rounded); blocks at the grid's sides take longer by a factor, which is
tried out. Compared: the same rows for all blocks, with the sides in their places among the others, and the choice of codegen-ptx/src/stencil/rows.rs, whose sides
begin first and may have fewer rows. A model: nothing here was measured.
"""

import argparse
import collections
import heapq
import math
import statistics

MULTIPROCESSORS = 132
# As in rows.rs.
BLOCKS_EACH = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
ITERATIONS = (5, 6)
WAITING = 6

Plan = collections.namedtuple("Plan", "dims tile halo cycles most")
# Columns of a block along y and x; iterations beyond its rows; cycles an iteration of 1, 2, ... blocks at once; rows that the first block may lack.
PLANS = {
    "laplacian2d": Plan(2, (1, 552), 24, (1184, 1460), 16),
    "heat2d": Plan(2, (1, 564), 14, (1100, 1400), 12),
    "gradient2d": Plan(2, (1, 240), 18, (900, 1050, 1200), 12),
    "laplacian3d": Plan(3, (24, 56), 10, (1400,), 8),
    "gradient3d": Plan(3, (28, 60), 6, (1400,), 8),
}
EXTENTS = {2: (1000, 2000, 3072, 4096, 8192, 16384), 3: (200, 384, 512, 768, 1024)}


def makespan(blocks, cycles):
    """When the last of the blocks (iterations each, in their order) is done."""
    queue, running = collections.deque(blocks), [[] for _ in range(MULTIPROCESSORS)]
    since, events, version = [0.0] * MULTIPROCESSORS, [], [0] * MULTIPROCESSORS

    def plan_end(m):
        if running[m]:
            end = since[m] + min(running[m]) * cycles[len(running[m]) - 1]
            heapq.heappush(events, (end, m, version[m]))

    for _ in cycles:
        for own in running:
            if queue:
                own.append(queue.popleft())
    for m in range(MULTIPROCESSORS):
        plan_end(m)
    now = 0.0
    while events:
        at, m, of = heapq.heappop(events)
        if of != version[m]:
            continue
        now, done = at, (at - since[m]) / cycles[len(running[m]) - 1]
        left = [w - done for w in running[m]]
        running[m] = [w for w in left if w > 1e-6]
        for _ in range(len(left) - len(running[m])):
            if queue:
                running[m].append(queue.popleft())
        since[m], version[m] = at, version[m] + 1
        plan_end(m)
    return now


def fewer(plan, rows):
    """Rows that the first block does not have."""
    return min(rows // 3, plan.most)


def heights(plan, extent, rows):
    """Rows of the blocks of a column, the last one first."""
    less = fewer(plan, rows)
    count = (extent + less - 1) // rows + 1
    if count == 1:
        return [extent]
    return [extent + less - rows * (count - 1), rows - less] + [rows] * (count - 2)


def candidates(plan, extent):
    """Modelled cycles, whether sides are apart, rows of blocks at the sides and of others."""
    across = math.ceil(extent / plan.tile[1])
    lines = math.ceil(extent / plan.tile[0]) if plan.dims == 3 else 1
    sides = 2 if plan.dims == 2 else 2 * (across + lines) - 4
    if across < 3 or plan.dims == 3 and lines < 3:
        sides = 0
    middle, (few, many) = across * lines - sides, ITERATIONS
    for each in BLOCKS_EACH:
        blocks = each * MULTIPROCESSORS
        for apart in (False, True):
            wanted = blocks * few // (middle * few + sides * many) if apart else blocks // (sides + middle)
            wanted = min(max(wanted, 1), extent)
            rows = max(math.ceil((extent + 2 * fewer(plan, math.ceil(extent / wanted))) / wanted), 1)
            at_sides = max((rows + plan.halo) * few // many - plan.halo, math.ceil(rows / 2)) if apart else rows
            count = middle * len(heights(plan, extent, rows)) + sides * len(heights(plan, extent, at_sides))
            waves, rest = divmod(math.ceil(count / MULTIPROCESSORS), len(plan.cycles))
            time = waves * plan.cycles[-1] + (plan.cycles[rest - 1] if rest else 0)
            equal = (rows + plan.halo) * time
            if sides and not apart:
                time += plan.cycles[-1] // WAITING
            if sides or not apart:
                yield (rows + plan.halo) * time, equal, apart, at_sides, rows, (lines, across, sides)


def compare(plan, extent, slower):
    """Cycles of a launch before and now."""
    found = list(candidates(plan, extent))
    before = min((c for c in found if not c[2]), key=lambda c: c[1])
    now = min(found, key=lambda c: c[0])
    lines, across, sides = before[5]

    def is_side(number):
        y, x = divmod(number, across)
        return sides > 0 and (x in (0, across - 1) or plan.dims == 3 and y in (0, lines - 1))

    columns = [is_side(n) for n in range(lines * across)]

    def work(rows, side):
        return (rows + plan.halo) * (slower if side else 1)

    mixed = [work(h, side) for h in heights(plan, extent, before[4]) for side in columns]
    first = [work(h, True) for h in heights(plan, extent, now[3]) for _ in range(sides)]
    rest = [work(h, False) for h in heights(plan, extent, now[4]) for _ in range(lines * across - sides)]
    return makespan(mixed, plan.cycles), makespan(first + rest, plan.cycles), now


def main():
    """A line for each factor, and with --verbose for each grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true", help="print each grid")
    options = parser.parse_args()
    for slower in (1.0, 1.15, 1.3, 1.45):
        ratios = []
        for name, plan in PLANS.items():
            for extent in EXTENTS[plan.dims]:
                before, now, choice = compare(plan, extent, slower)
                ratios.append(before / now)
                if options.verbose:
                    print(f"  {name} {extent}: {before / now:.3f}, rows {choice[3]} at the sides, {choice[4]} elsewhere")
        print(f"sides {slower} times as long: {statistics.geometric_mean(ratios):.3f} times as fast on {len(ratios)} grids, least {min(ratios):.3f}")


if __name__ == "__main__":
    main()
