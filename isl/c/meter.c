/* What isl's operation counter does not see: arithmetic on vectors.
 *
 * isl counts allocations and pivots. A pivot of a table of a hundred rows of numbers with many digits takes a thousand times as
 * long as an allocation; Fourier-Motzkin elimination and the scheduler's integer programs consist of little else. So the linker
 * hands isl's calls of its vector and long-number arithmetic to the functions here (`--wrap`, see build.rs), which add the size of
 * the work to a counter and count an operation of isl for every UNITS of it. isl's own budget then ends the computation, at the
 * same place on every machine.
 *
 * The counter belongs to the thread and charges one context: that of the innermost budget in force. Without a budget nothing is
 * counted. An executable that is linked without `--wrap` never comes here; there the references to isl's own functions stay null.
 */
#include <stddef.h>
#include <stdint.h>

struct isl_ctx;

/* Of isl_ctx.c: counts one operation; over the budget, sets the context's error, and every later allocation fails. */
int isl_ctx_next_operation(struct isl_ctx *ctx);

/* One unit is the work on one element of a vector of small numbers, about 1.5 ns; an operation takes some 100 ns on average. */
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

/* WRAPPED(result, name, parameters, arguments, units): isl's function `name` with its work charged. */
#define WRAPPED(result, name, parameters, arguments, cost) \
	__attribute__((weak)) result __real_##name parameters; \
	__attribute__((visibility("hidden"))) result __wrap_##name parameters; \
	result __wrap_##name parameters \
	{ \
		charge(cost); \
		return __real_##name arguments; \
	}

/* isl_seq.h; an isl_int parameter is the address of the number. */
WRAPPED(void, isl_seq_combine, (void *dst, void *m1, void *src1, void *m2, void *src2, unsigned len),
	(dst, m1, src1, m2, src2, len), 2 * len)
WRAPPED(void, isl_seq_elim, (void *dst, void *src, unsigned pos, unsigned len, void *m), (dst, src, pos, len, m), 4 * len)
WRAPPED(void, isl_seq_normalize, (void *ctx, void *p, unsigned len), (ctx, p, len), 4 * len)
WRAPPED(void, isl_seq_gcd, (void *p, unsigned len, void *gcd), (p, len, gcd), 2 * len)
WRAPPED(void, isl_seq_inner_product, (void *p1, void *p2, unsigned len, void *product), (p1, p2, len, product), len)
WRAPPED(void, isl_seq_scale_down, (void *dst, void *src, void *m, unsigned len), (dst, src, m, len), 2 * len)
WRAPPED(void, isl_seq_cpy, (void *dst, void *src, unsigned len), (dst, src, len), len)
WRAPPED(int, isl_seq_abs_min_non_zero, (void *p, unsigned len), (p, len), len)
WRAPPED(uint32_t, isl_seq_get_hash, (void *p, unsigned len), (p, len), len)

/* imath.h and gmp_compat.h, for numbers that do not fit 32 bits. */
WRAPPED(int, isl_mp_int_add, (void *a, void *b, void *c), (a, b, c), LONG_SUM)
WRAPPED(int, isl_mp_int_sub, (void *a, void *b, void *c), (a, b, c), LONG_SUM)
WRAPPED(int, isl_mp_int_mul, (void *a, void *b, void *c), (a, b, c), LONG_SUM)
WRAPPED(int, isl_mp_int_div, (void *a, void *b, void *q, void *r), (a, b, q, r), LONG_DIVISION)
WRAPPED(void, isl_impz_gcd, (void *rop, void *a, void *b), (rop, a, b), LONG_DIVISION)
WRAPPED(void, isl_impz_fdiv_q, (void *q, void *n, void *d), (q, n, d), LONG_DIVISION)
WRAPPED(void, isl_impz_cdiv_q, (void *q, void *n, void *d), (q, n, d), LONG_DIVISION)
