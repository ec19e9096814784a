/* A tool that writes down the ranges it is shown, with their nesting, to NVTX_LOG. NVTX_FAKE: refuse,
 * no-domains, no-ranges. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void Function(void);
struct Callbacks { size_t bytes; int (*table)(int module, Function ****table, unsigned *size); };
struct Version { size_t bytes; uint32_t version, reserved; void (*set)(uint32_t); };
struct Attributes { uint16_t version, bytes; uint32_t category; int32_t colour_type; uint32_t colour; int32_t payload_type, reserved;
                    uint64_t payload; int32_t message_type; const char *message; };

static FILE *out;
static _Thread_local int depth;

static void *create(const char *name) {
  fprintf(out, "domain %s\n", name);
  return (void *)0xd0;
}
static int push(void *domain, const struct Attributes *a) {
  int known = a->version == 3 && a->bytes == sizeof *a && a->message_type == 1;
  fprintf(out, "%*s%s%s\n", 2 * depth, "", known ? a->message : "?", domain ? "" : " (no domain)");
  return depth++;
}
static int pop(void *domain) {
  (void)domain;
  fprintf(out, "%*send\n", 2 * --depth, "");
  return depth;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*export)(uint32_t)) {
  const char *mode = getenv("NVTX_FAKE") ? getenv("NVTX_FAKE") : "";
  const struct Callbacks *callbacks = export(1);
  const struct Version *version = export(3);
  out = fopen(getenv("NVTX_LOG"), "w");
  setvbuf(out, 0, _IOLBF, 0);
  Function ***core, ***domains;
  unsigned n_core, n_domains;
  if (export(2) || callbacks->bytes != sizeof *callbacks || version->bytes != sizeof *version || version->version != 3 ||
      callbacks->table(2, 0, 0) || !callbacks->table(1, &core, &n_core) || !callbacks->table(5, &domains, &n_domains) || n_core != 16 ||
      n_domains != 16 || core[0] || core[16] || domains[0] || domains[16]) {
    fputs("wrong tables\n", out);
    return 0;
  }
  version->set(3);
  if (!strcmp(mode, "refuse"))
    return 0;
  if (strcmp(mode, "no-domains"))
    *domains[12] = (Function *)create;
  if (strcmp(mode, "no-ranges"))
    *domains[4] = (Function *)push, *domains[5] = (Function *)pop;
  return 1;
}
