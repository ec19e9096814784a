/* Switches in the source of a program, for C and C++: functions and loops that pollyrs is to leave alone, or
 * to take however small they are. Other compilers see nothing in them, or ignore what they see.
 *
 *   POLLYRS_OFF_FUNCTION void setup(...) {}    nothing of the function runs on a device
 *   POLLYRS_OFF                                neither does this loop, nor what is in it, nor loops around it
 *   for (int i = 0; i < n; ++i) ...
 *   POLLYRS_ON, POLLYRS_ON_FUNCTION            not too small: the option min-work does not count
 *
 * Whether an execution pays off is still asked at run time (POLLYRS_RT_OFFLOAD). */
#ifndef POLLYRS_H
#define POLLYRS_H

#ifdef __clang__
#define POLLYRS_OFF_FUNCTION __attribute__((annotate("pollyrs: off")))
#define POLLYRS_ON_FUNCTION __attribute__((annotate("pollyrs: on")))
/* Software pipelining is nothing that clang does for the CPUs that pollyrs runs on: the pragmas say nothing
 * else there. */
#define POLLYRS_OFF _Pragma("clang loop pipeline(disable)")
#define POLLYRS_ON _Pragma("clang loop pipeline_initiation_interval(1)")
#else
#define POLLYRS_OFF_FUNCTION
#define POLLYRS_ON_FUNCTION
#define POLLYRS_OFF
#define POLLYRS_ON
#endif

#endif
