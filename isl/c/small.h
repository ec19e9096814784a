/* isl's vector arithmetic for vectors of small numbers, which nearly all are.
 *
 * A number of isl (imath-32) is 64 bits: an odd one holds 32 bits in its upper half, not -2^31; an even one
 * is the address of a long number. Each function here does what isl's own does (isl_seq.c) where that needs
 * small numbers only, and otherwise returns 0; then nothing has changed but what isl's own computes in the
 * same way again. It does one test an element, not one an operand, and takes divisors from machine words.
 * isl's own functions stay the definition: tests/small.rs compares. */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t number;

static inline int is_small(number n)
{
	return n & 1;
}

static inline int64_t value(number n)
{
	return (int64_t) n >> 32;
}

static inline number of(int64_t value)
{
	return ((number) value << 32) | 1;
}

static inline int fits(int64_t value)
{
	return -INT32_MAX <= value && value <= INT32_MAX;
}

static inline uint32_t magnitude(number n)
{
	int32_t v = value(n);
	return v < 0 ? -v : v;
}

static inline uint32_t divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* The greatest common divisor, 0 of zeros; -1 if there is a long number, unless a one comes first. */
static inline int64_t common_divisor(const number *p, unsigned len)
{
	uint32_t found = 0;
	for (unsigned i = 0; i < len; ++i) {
		if (!is_small(p[i]))
			return -1;
		uint32_t m = magnitude(p[i]);
		if (m == 0)
			continue;
		found = found == 0 ? m : divisor(m, found);
		if (found == 1)
			break;
	}
	return found;
}

static inline int small_gcd(const number *p, unsigned len, number *gcd)
{
	int64_t found = is_small(*gcd) ? common_divisor(p, len) : -1;
	if (found < 0)
		return 0;
	*gcd = of(found);
	return 1;
}

static inline int small_normalize(number *p, unsigned len)
{
	int64_t found = common_divisor(p, len);
	if (found < 0)
		return 0;
	if (found > 1)
		for (unsigned i = 0; i < len; ++i)
			p[i] = of(value(p[i]) / found);
	return 1;
}

/* The position of the first element that is not zero and smallest by magnitude, or -1; -2 if there is a long
 * number. */
static inline int small_abs_min_non_zero(const number *p, unsigned len)
{
	int at = -1;
	uint32_t least = 0;
	for (unsigned i = 0; i < len; ++i) {
		if (!is_small(p[i]))
			return -2;
		uint32_t m = magnitude(p[i]);
		if (m != 0 && (at < 0 || m < least)) {
			at = i;
			least = m;
		}
	}
	return at;
}

/* dst = m1 src1 + m2 src2, up to the first element that is, or was, a long number: its position. dst may be
 * one of the sources. */
static inline unsigned small_combine(number *dst, int64_t m1, const number *src1, int64_t m2, const number *src2, unsigned len)
{
	unsigned i;
	for (i = 0; i < len; ++i) {
		if (!(dst[i] & src1[i] & src2[i] & 1))
			break;
		/* Each product is below 2^62. */
		int64_t sum = m1 * value(src1[i]) + m2 * value(src2[i]);
		if (!fits(sum))
			break;
		dst[i] = of(sum);
	}
	return i;
}

static inline int small_inner_product(const number *p1, const number *p2, unsigned len, number *product)
{
	int64_t sum = 0;
	if (!is_small(*product))
		return 0;
	for (unsigned i = 0; i < len; ++i)
		if (!(p1[i] & p2[i] & 1) || __builtin_add_overflow(sum, value(p1[i]) * value(p2[i]), &sum))
			return 0;
	if (!fits(sum))
		return 0;
	*product = of(sum);
	return 1;
}

/* The position of the first element that is, or was, a long number. */
static inline unsigned small_copy(number *dst, const number *src, unsigned len)
{
	unsigned i;
	for (i = 0; i < len && (dst[i] & src[i] & 1); ++i)
		dst[i] = src[i];
	return i;
}

/* dst = src / m, which is exact, up to the first element that is, or was, a long number: its position. */
static inline unsigned small_scale_down(number *dst, const number *src, int64_t m, unsigned len)
{
	unsigned i;
	for (i = 0; i < len && (dst[i] & src[i] & 1); ++i)
		dst[i] = of(value(src[i]) / m);
	return i;
}

/* The factors of isl_seq_elim, which replaces `dst` by `a dst + b src`, and *m, if any, by `a *m`. */
static inline int small_factors(number d, number s, const number *m, int64_t *a, int64_t *b)
{
	if (!(d & s & 1) || value(s) == 0 || (m && !is_small(*m)))
		return 0;
	uint32_t common = divisor(magnitude(d), magnitude(s));
	*a = magnitude(s) / common;
	*b = value(s) > 0 ? -(value(d) / (int64_t) common) : value(d) / (int64_t) common;
	return !m || fits(value(*m) * *a);
}
