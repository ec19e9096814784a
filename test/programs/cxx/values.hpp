// Random numbers from -1 to 1 and a hash of numbers, in functions that are not inlined.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static std::uint64_t state = 1;

[[gnu::noinline]] static double uniform() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<double>(static_cast<std::int64_t>(state * 0x2545f4914f6cdd1du)) * 0x1p-63;
}

[[gnu::noinline]] static void mix(std::uint64_t &hash, double value) {
  union {
    double value;
    std::uint64_t bits;
  } both = {value};
  hash = (hash ^ both.bits) * 0x100000001b3u;
}
