// A linked list.
// ARGS: 0
// ARGS: 100
// OFFLOAD: no
#include "example.h"


struct node {
  struct node *next;
  double value;
};

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 100);
  struct node *head = NULL;
  for (long i = 0; i < n; ++i) {
    struct node *node = malloc(sizeof *node);
    if (!node)
      return 2;
    node->next = head;
    node->value = example_uniform();
    head = node;
  }
  double sum = 0;
  for (struct node *p = head; p; p = p->next)
    sum += p->value;
  printf("%.17g\n", sum);
  while (head) {
    struct node *next = head->next;
    free(head);
    head = next;
  }
  return 0;
}
