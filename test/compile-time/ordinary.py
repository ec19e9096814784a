#!/usr/bin/env python3
"""Writes a long C file of the code that most files consist of: records behind pointers, lists, trees, hash tables, strings, state
machines, calls through tables, and small loops that no device would gain from.

The plugin has next to nothing to do there, and should take next to no time; `scripts/compile-time --check` holds it to a bound. The
same seed gives the same text.
"""

import random
import sys

PROLOGUE = """#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text { char *data; size_t length, capacity; };
enum kind { NUMBER, NAME, PAIR, LIST, EMPTY };
struct node { enum kind kind; struct node *next, *left, *right; struct text name; long value; int marks[8]; };
struct table { struct node **slots; size_t size, used; unsigned (*hash)(const char *); };
struct state { const char *at, *end; int line, column, error; struct table *names; struct node *free; };

void fail(struct state *s, const char *format, ...);
struct node *make(struct state *s, enum kind kind);
void append(struct text *t, const char *bytes, size_t count);
"""

FUNCTIONS = [
    # A list, searched by a condition on its records.
    """
struct node *find_{f}(struct node *list, long value, const char *name)
{
  for (struct node *n = list; n; n = n->next) {
    if (n->kind == {kind} && n->value {compare} value + {a})
      return n;
    if (n->kind == NAME && n->name.length > {b} && strcmp(n->name.data, name) == 0)
      return n->left ? n->left : n;
  }
  return NULL;
}
""",
    # A scanner: characters until one of another class.
    """
int scan_{f}(struct state *s, struct text *out)
{
  while (s->at < s->end && isspace((unsigned char)*s->at)) {
    if (*s->at++ == '\\n') {
      s->line++;
      s->column = {a};
    }
  }
  const char *start = s->at;
  while (s->at < s->end && (isalnum((unsigned char)*s->at) || *s->at == '_'))
    s->at++;
  size_t count = (size_t)(s->at - start);
  if (count == 0 || count > {b} + 200) {
    fail(s, "line %d: a name of %zu characters", s->line, count);
    return -1;
  }
  append(out, start, count);
  return (int)count;
}
""",
    # A hash table with chains, that grows.
    """
void insert_{f}(struct table *t, struct node *n)
{
  if (t->used * {b} > t->size * 3) {
    size_t size = t->size * 2 + {a};
    struct node **slots = calloc(size, sizeof *slots);
    for (size_t i = 0; i < t->size; ++i) {
      struct node *next;
      for (struct node *m = t->slots[i]; m; m = next) {
        next = m->next;
        unsigned h = t->hash(m->name.data) % size;
        m->next = slots[h];
        slots[h] = m;
      }
    }
    free(t->slots);
    t->slots = slots;
    t->size = size;
  }
  unsigned h = t->hash(n->name.data) % t->size;
  n->next = t->slots[h];
  t->slots[h] = n;
  t->used++;
}
""",
    # A hash of a string: a recurrence of unknown length.
    """
unsigned hash_{f}(const char *name)
{
  unsigned h = {a}u;
  for (; *name; ++name)
    h = (h ^ (unsigned char)*name) * {p}u + (h >> {b});
  return h;
}
""",
    # A tree, recursively, with a small constant loop.
    """
long weigh_{f}(const struct node *n, int depth)
{
  if (!n || depth > {a})
    return 0;
  long sum = n->value * {b};
  for (int i = 0; i < 8; ++i)
    sum += n->marks[i] > {a} ? n->marks[i] : -1;
  switch (n->kind) {
  case PAIR:
    return sum + weigh_{f}(n->left, depth + 1) - weigh_{f}(n->right, depth + 1);
  case LIST:
    for (const struct node *m = n->left; m; m = m->next)
      sum ^= weigh_{f}(m, depth + 1);
    return sum;
  case NUMBER:
    return sum + {b};
  default:
    return sum;
  }
}
""",
    # Records of an array, their fields under conditions, with calls.
    """
int check_{f}(struct state *s, const struct node *nodes, int count)
{
  int bad = 0;
  for (int i = 0; i < count; ++i) {
    const struct node *n = &nodes[i];
    if (n->kind == EMPTY)
      continue;
    if (n->value < -{a} || n->value > {a} * {b} + 7) {
      fail(s, "%s: %ld at %d", n->name.data ? n->name.data : "?", n->value, i);
      if (++bad > {b})
        return bad;
    } else if (n->left && n->left->value {compare} n->value) {
      bad += n->left->marks[i & 7];
    }
  }
  return bad;
}
""",
    # A state machine over bytes.
    """
int parse_{f}(struct state *s, struct node *out)
{
  int state = 0;
  long value = 0;
  for (; s->at < s->end; s->at++) {
    int c = (unsigned char)*s->at;
    switch (state) {
    case 0:
      if (c == '-') state = 1;
      else if (c >= '0' && c <= '9') { value = c - '0'; state = 2; }
      else if (c == '"') state = 3;
      else return {a};
      break;
    case 1:
      if (c < '0' || c > '9') return -{b};
      value = '0' - c;
      state = 2;
      break;
    case 2:
      if (c < '0' || c > '9') { out->kind = NUMBER; out->value = value; return 0; }
      value = value * 10 + (c - '0');
      break;
    case 3:
      if (c == '\\\\') state = 4;
      else if (c == '"') return 1;
      else append(&out->name, s->at, 1);
      break;
    default:
      append(&out->name, c == 'n' ? "\\n" : c == 't' ? "\\t" : s->at, 1);
      state = 3;
    }
  }
  return state;
}
""",
    # Text, character by character and in place.
    """
void escape_{f}(struct text *t)
{
  size_t extra = 0;
  for (const char *at = t->data; *at; ++at)
    extra += *at == '{c}' || *at == '\\\\' || (unsigned char)*at < {b} + 32;
  if (!extra)
    return;
  char *data = malloc(t->length + extra + 1), *to = data;
  for (const char *from = t->data; from < t->data + t->length; ++from) {
    if (*from == '{c}' || *from == '\\\\' || (unsigned char)*from < {b} + 32)
      *to++ = '\\\\';
    *to++ = *from;
  }
  *to = 0;
  free(t->data);
  t->data = data;
  t->length += extra;
}
""",
    # Sorting: insertions that stop where they find their place.
    """
void sort_{f}(struct node **nodes, int count)
{
  for (int i = 1; i < count; ++i) {
    struct node *n = nodes[i];
    int j = i - 1;
    while (j >= 0 && (nodes[j]->value {compare} n->value || strcmp(nodes[j]->name.data, n->name.data) > {a})) {
      nodes[j + 1] = nodes[j];
      --j;
    }
    nodes[j + 1] = n;
  }
}
""",
    # A dispatch table and no loop.
    """
static long twice_{f}(long v) { return v * 2 + {a}; }
static long square_{f}(long v) { return v * v - {b}; }
static long halve_{f}(long v) { return v / 2 ^ {a}; }
static long (*const steps_{f}[])(long) = {twice_{f}, square_{f}, halve_{f}};
long apply_{f}(const struct node *n, long v)
{
  for (int i = 0; i < 8 && n->marks[i] >= 0; ++i)
    v = steps_{f}[n->marks[i] % 3](v);
  return v;
}
""",
    # Bits, and a search by halves.
    """
int locate_{f}(const long *sorted, int count, long key)
{
  int low = 0, high = count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (sorted[middle] {compare} key + {a})
      low = middle + 1;
    else
      high = middle;
  }
  uint64_t bits = (uint64_t)key * {p}u;
  int ones = 0;
  for (; bits; bits &= bits - 1)
    ones++;
  return low + ones % {b};
}
""",
    # Output.
    """
void show_{f}(FILE *out, const struct node *n, int indent)
{
  for (int i = 0; i < indent; ++i)
    fputc(i % {b} ? ' ' : '|', out);
  fprintf(out, "%d %ld %.*s\\n", (int)n->kind, n->value + {a}, (int)n->name.length, n->name.data);
  for (const struct node *m = n->left; m; m = m->next)
    show_{f}(out, m, indent + 2);
  for (int i = 0; i < 8; ++i)
    if (n->marks[i])
      fprintf(out, "%d:%d%s", i, n->marks[i], i < 7 ? ", " : "\\n");
}
""",
    # Plain code: fields copied, compared and cleared.
    """
struct node *copy_{f}(struct state *s, const struct node *n)
{
  struct node *m = make(s, n->kind);
  if (!m)
    return NULL;
  m->value = n->value + {a};
  for (int i = 0; i < {e}; ++i)
    m->marks[i] = n->marks[7 - i];
  memset(&m->name, 0, sizeof m->name);
  append(&m->name, n->name.data, n->name.length);
  m->left = n->left ? copy_{f}(s, n->left) : NULL;
  m->right = n->right && n->right->value {compare} {b} ? copy_{f}(s, n->right) : NULL;
  s->error |= m->name.length != n->name.length;
  return m;
}
""",
]


def generate(lines, seed):
    """The text of a file of at least so many lines."""
    rng = random.Random(seed)
    text, count, number = [PROLOGUE], PROLOGUE.count("\n"), 0
    while count < lines:
        function = FUNCTIONS[number % len(FUNCTIONS)]
        values = {
            "f": number, "a": rng.randint(1, 900), "b": rng.randint(2, 31), "c": rng.choice("<>&$%/"), "e": rng.randint(3, 8),
            "p": rng.choice([16777619, 31, 2654435761, 1000003]), "kind": rng.choice(["NUMBER", "PAIR", "LIST"]),
            "compare": rng.choice(["<", ">", "!=", "<="]),
        }
        for key, value in values.items():
            function = function.replace("{" + key + "}", str(value))
        text.append(function)
        count += function.count("\n")
        number += 1
    return "".join(text)


if __name__ == "__main__":
    sys.stdout.write(generate(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
