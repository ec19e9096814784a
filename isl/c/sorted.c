/* What isl 0.27 gets wrong: a first or last element where a remainder is fixed.
 *
 * isl looks for an output dimension that equals a quotient or remainder of parameters and input dimensions,
 * in two inequality constraints that bound it from both sides, and takes them for such a pair by the
 * coefficients up to the last one of the later constraint. That is right where the constraints are sorted, by
 * their last variable first. Lexicographic optimisation asks without having sorted them: of
 * `{ A[i, j] : exists e : 2 e = 1 + n + i and j <= n - 2 and j >= i and i >= 0 }`, with the constraints in
 * this order, `j >= i` and `i >= 0` count as `0 <= i <= 0`, and the last element's `i` is `(1 + n) mod 2`
 * instead of `n - 3`. Quotients for existentially quantified variables, and with them differences and
 * inclusions of sets, go the same way.
 *
 * The linker hands the question to the function here (`--wrap`, see build.rs), which asks it of the sorted
 * constraints. */

typedef struct isl_basic_map isl_basic_map;

/* isl_maybe_isl_aff of isl/maybe_templ.h: an error (-1), none (0) or an expression (1). */
typedef struct {
	int valid;
	void *value;
} maybe_aff;

/* Of isl_map.c. Sorting is in place, also of what others refer to: so it is done to a copy with constraints
 * of its own (`cow`). */
isl_basic_map *isl_basic_map_copy(isl_basic_map *bmap);
isl_basic_map *isl_basic_map_cow(isl_basic_map *bmap);
isl_basic_map *isl_basic_map_sort_constraints(isl_basic_map *bmap);
isl_basic_map *isl_basic_map_free(isl_basic_map *bmap);

#define WRAPPED(result, name, parameters) \
	__attribute__((weak)) result __real_##name parameters; \
	__attribute__((visibility("hidden"))) result __wrap_##name parameters; \
	result __wrap_##name parameters

WRAPPED(maybe_aff, isl_basic_map_try_find_any_output_div_mod, (isl_basic_map *bmap, int *pos))
{
	bmap = isl_basic_map_sort_constraints(isl_basic_map_cow(isl_basic_map_copy(bmap)));
	maybe_aff found = __real_isl_basic_map_try_find_any_output_div_mod(bmap, pos);
	isl_basic_map_free(bmap);
	return found;
}
