/* What the tests share: requirements, and reading of files. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tegula.h"

#define REQUIRE(condition)                                                                             \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
      exit(1);                                                                                         \
    }                                                                                                  \
  } while (0)

/* Ends the program where there is an error. */
static inline void fine(TegulaError *error) {
  if (error != NULL) {
    fprintf(stderr, "%s\n", tegula_error_text(error));
    exit(1);
  }
}

/* The error must come, with this code. */
static inline void refused(TegulaError *error, const char *code) {
  REQUIRE(error != NULL);
  if (strcmp(tegula_error_code(error), code) != 0) {
    fprintf(stderr, "expected %s: %s\n", code, tegula_error_text(error));
    exit(1);
  }
  REQUIRE(strlen(tegula_error_text(error)) > strlen(code));
  tegula_error_free(error);
}

/* A file's bytes, to be freed. */
static inline void *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  REQUIRE(file != NULL);
  REQUIRE(fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  REQUIRE(size >= 0);
  rewind(file);
  void *content = malloc((size_t)size + 1);
  REQUIRE(content != NULL && fread(content, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  *bytes = (size_t)size;
  return content;
}

#endif
