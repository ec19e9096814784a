// Exit values: where the expander finds that the PHI itself has the value, nothing is rewritten (and nothing replaced by itself, without end).
//
// RUN: timeout 60 %clang -O3 -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-verify -Rpass-missed=pollyrs -c %s -o %t.o 2>&1 | FileCheck %s

struct q { unsigned char active; int slots[200]; };
int accept(struct q *p);
void locals(struct q *p) {
  int names = 0;
  do {p->slots[p->active + names] = 0; names++;} while (accept(p));
  p->active = (unsigned char)(p->active + names);
  for (; names; names--)
    p->slots[p->active - names] = 1;
}

// CHECK: not offloaded
// CHECK-NOT: internal error
