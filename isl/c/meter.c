/* What isl's operation counter does not see: arithmetic on vectors.
 *
 * isl counts allocations and pivots. A pivot of a table of a hundred rows of numbers with many digits takes a
 * thousand times as long as an allocation; Fourier-Motzkin elimination and the scheduler's integer programs
 * consist of little else. So the linker hands isl's calls of its vector and long-number arithmetic to the
 * functions here (`--wrap`, see build.rs), which add the size of the work to a counter and count an operation
 * of isl for every UNITS of it. isl's own budget then ends the computation, at the same place on every
 * machine.
 *
 * The counter belongs to the thread and charges one context: that of the innermost budget in force. Without a
 * budget nothing is counted. An executable that is linked without `--wrap` never comes here; there the
 * references to isl's own functions stay null. */
#include "small.h"

struct isl_ctx;

/* Of isl_ctx.c: counts one operation; over the budget, sets the context's error, and every later allocation
 * fails. */
int isl_ctx_next_operation(struct isl_ctx *ctx);

/* One unit is the work on one element of a vector of small numbers, about 1.5 ns; an operation takes some 100
 * ns on average. */
enum { UNITS = 64 };

/* What long numbers cost: an addition or a product, and a division or a greatest common divisor. */
enum { LONG_SUM = 16, LONG_DIVISION = 64 };

static __thread struct {
	struct isl_ctx *ctx;
	size_t units;
} meter;

/* Charges `ctx` from now on; NULL: nobody. */
void pollyrs_isl_meter(struct isl_ctx *ctx)
{
	meter.ctx = ctx;
	meter.units = 0;
}

static void settle(void)
{
	for (; meter.units >= UNITS; meter.units -= UNITS)
		if (meter.ctx && isl_ctx_next_operation(meter.ctx) < 0)
			break;
	meter.units %= UNITS;
}

static inline void charge(size_t units)
{
	meter.units += units;
	if (__builtin_expect(meter.units >= UNITS, 0))
		settle();
}

/* METERED: what stands in front of isl's function `name`. */
#define METERED(result, name, parameters) \
	__attribute__((weak)) result __real_##name parameters; \
	__attribute__((visibility("hidden"))) result __wrap_##name parameters; \
	result __wrap_##name parameters

/* WRAPPED(result, name, parameters, arguments, units): isl's function `name` with its work charged. */
#define WRAPPED(result, name, parameters, arguments, cost) \
	METERED(result, name, parameters) \
	{ \
		charge(cost); \
		return __real_##name arguments; \
	}

/* QUICKER(result, name, ...): the same, with the work on small numbers done here (small.h). isl_seq.h; an
 * isl_int parameter is the address of the number. */
#define QUICKER METERED

QUICKER(void, isl_seq_combine, (number *dst, number *m1, number *src1, number *m2, number *src2, unsigned len))
{
	charge(2 * (size_t) len);
	unsigned done = *m1 & *m2 & 1 ? small_combine(dst, value(*m1), src1, value(*m2), src2, len) : 0;
	if (done < len)
		__real_isl_seq_combine(dst + done, m1, src1 + done, m2, src2 + done, len - done);
}

QUICKER(void, isl_seq_elim, (number *dst, number *src, unsigned pos, unsigned len, number *m))
{
	charge(4 * (size_t) len);
	int64_t a, b;
	if (!small_factors(dst[pos], src[pos], m, &a, &b)) {
		__real_isl_seq_elim(dst, src, pos, len, m);
		return;
	}
	if (value(dst[pos]) == 0)
		return;
	if (m)
		*m = of(value(*m) * a);
	unsigned done = small_combine(dst, a, dst, b, src, len);
	number factors[] = {of(a), of(b)};
	if (done < len)
		__real_isl_seq_combine(dst + done, factors, dst + done, factors + 1, src + done, len - done);
}

QUICKER(void, isl_seq_normalize, (void *ctx, number *p, unsigned len))
{
	charge(4 * (size_t) len);
	if (!small_normalize(p, len))
		__real_isl_seq_normalize(ctx, p, len);
}

QUICKER(void, isl_seq_gcd, (number *p, unsigned len, number *gcd))
{
	charge(2 * (size_t) len);
	if (!small_gcd(p, len, gcd))
		__real_isl_seq_gcd(p, len, gcd);
}

QUICKER(void, isl_seq_inner_product, (number *p1, number *p2, unsigned len, number *product))
{
	charge(len);
	if (!small_inner_product(p1, p2, len, product))
		__real_isl_seq_inner_product(p1, p2, len, product);
}

QUICKER(void, isl_seq_scale_down, (number *dst, number *src, number *m, unsigned len))
{
	charge(2 * (size_t) len);
	unsigned done = is_small(*m) ? small_scale_down(dst, src, value(*m), len) : 0;
	if (done < len)
		__real_isl_seq_scale_down(dst + done, src + done, m, len - done);
}

QUICKER(void, isl_seq_cpy, (number *dst, number *src, unsigned len))
{
	charge(len);
	unsigned done = small_copy(dst, src, len);
	if (done < len)
		__real_isl_seq_cpy(dst + done, src + done, len - done);
}

QUICKER(int, isl_seq_abs_min_non_zero, (number *p, unsigned len))
{
	charge(len);
	int at = small_abs_min_non_zero(p, len);
	return at < -1 ? __real_isl_seq_abs_min_non_zero(p, len) : at;
}

WRAPPED(uint32_t, isl_seq_get_hash, (void *p, unsigned len), (p, len), len)

/* imath.h and gmp_compat.h, for numbers that do not fit 32 bits. */
WRAPPED(int, isl_mp_int_add, (void *a, void *b, void *c), (a, b, c), LONG_SUM)
WRAPPED(int, isl_mp_int_sub, (void *a, void *b, void *c), (a, b, c), LONG_SUM)
WRAPPED(int, isl_mp_int_mul, (void *a, void *b, void *c), (a, b, c), LONG_SUM)
WRAPPED(int, isl_mp_int_div, (void *a, void *b, void *q, void *r), (a, b, q, r), LONG_DIVISION)
WRAPPED(void, isl_impz_gcd, (void *rop, void *a, void *b), (rop, a, b), LONG_DIVISION)
WRAPPED(void, isl_impz_fdiv_q, (void *q, void *n, void *d), (q, n, d), LONG_DIVISION)
WRAPPED(void, isl_impz_cdiv_q, (void *q, void *n, void *d), (q, n, d), LONG_DIVISION)
