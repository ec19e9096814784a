/* Loads a shared library made of program.c, lets it run a scenario, and unloads it, three times: loads
 * LIBRARY SCENARIO ... */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  for (int r = 0; r < 3; r++) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "main") : 0;
    if (!run || run(argc - 1, argv + 1)) {
      fprintf(stderr, "%s\n", library ? "the scenario failed" : dlerror());
      return 1;
    }
    fflush(stdout);
    dlclose(library);
  }
  return 0;
}
