/* The C interface: compile, save, load, ask, run, threads, bad arguments.
 *
 *   face DOUBLE.onnx FOLDER [MODEL.onnx]
 *
 * The first model is `y = x + x` with `x: f32[n]`; files are written to the folder. The third has one input of i32 and
 * one output of f32 whose rows sum to 1. */

#include <pthread.h>
#include "check.h"

enum { THREADS = 8, ROUNDS = 200 };

static TegulaTensor vector(const float *data, const int64_t *length) {
  TegulaTensor tensor = {"x", data, (size_t)*length * sizeof(float), length, 1, TEGULA_F32};
  return tensor;
}

/* Runs `y = x + x` on that many numbers, and looks at them. */
static void doubles(const TegulaSession *session, TegulaOutputs *outputs, int64_t length, float start) {
  float *x = malloc((size_t)length * sizeof(float) + 1);
  REQUIRE(x != NULL);
  for (int64_t i = 0; i < length; i++) x[i] = start + (float)i;
  TegulaTensor input = vector(x, &length), output;
  fine(tegula_session_run(session, &input, 1, outputs));
  fine(tegula_outputs_get(outputs, 0, &output));
  REQUIRE(output.dtype == TEGULA_F32 && output.rank == 1 && output.dims[0] == length);
  REQUIRE(output.bytes == input.bytes && strcmp(output.name, "y") == 0);
  const float *y = output.data;
  for (int64_t i = 0; i < length; i++) REQUIRE(y[i] == 2 * x[i]);
  free(x);
}

static void asks(const TegulaSession *session) {
  REQUIRE(tegula_session_inputs(session) == 1 && tegula_session_outputs(session) == 1);
  TegulaPort port;
  fine(tegula_session_input(session, 0, &port));
  REQUIRE(strcmp(port.name, "x") == 0 && port.dtype == TEGULA_F32 && port.rank == 1);
  REQUIRE(port.dims[0] == TEGULA_OPEN && strcmp(port.sizes[0], "n") == 0);
  fine(tegula_session_output(session, 0, &port));
  REQUIRE(strcmp(port.name, "y") == 0 && port.dims[0] == TEGULA_OPEN);
  refused(tegula_session_input(session, 1, &port), "bad-argument");
  refused(tegula_session_output(session, 1, &port), "bad-argument");
  /* Sizes for a shape, without data. */
  int64_t length = 7, found = 0;
  TegulaTensor shape = {NULL, NULL, 0, &length, 1, TEGULA_F32};
  fine(tegula_session_output_dims(session, &shape, 1, 0, &found));
  REQUIRE(found == 7);
  refused(tegula_session_output_dims(session, &shape, 1, 1, &found), "bad-argument");
  refused(tegula_session_output_dims(session, &shape, 1, 0, NULL), "bad-argument");
  refused(tegula_session_output_dims(session, &shape, 0, 0, &found), "missing-input");
  shape.rank = 0;
  refused(tegula_session_output_dims(session, &shape, 1, 0, &found), "shape-mismatch");
}

static void bad_arguments(const char *path, const TegulaSession *session) {
  TegulaSession *made = NULL;
  TegulaOptions options = {0};
  refused(tegula_compile(NULL, NULL, &made), "bad-argument");
  refused(tegula_compile(path, NULL, NULL), "bad-argument");
  refused(tegula_compile("\xff", NULL, &made), "bad-argument");
  refused(tegula_compile("/no/such/file", NULL, &made), "io");
  refused(tegula_compile_bytes(NULL, 3, NULL, &made), "bad-argument");
  refused(tegula_compile_bytes(NULL, 0, NULL, &made), "not-onnx");
  refused(tegula_compile_bytes("nonsense", 8, NULL, &made), "not-onnx");
  refused(tegula_load(NULL, NULL, &made), "bad-argument");
  refused(tegula_load(path, NULL, &made), "package-foreign");
  refused(tegula_load_bytes("nonsense", 8, NULL, &made), "package-foreign");
  refused(tegula_compile(path, &options, &made), "bad-argument");
  options.size = sizeof options;
  options.target = "abacus";
  refused(tegula_compile(path, &options, &made), "bad-option");
  options.target = NULL;
  options.machine = "pdp11";
  refused(tegula_compile(path, &options, &made), "unknown-machine");
  options.machine = NULL;
  options.portable = 2;
  refused(tegula_compile(path, &options, &made), "bad-argument");
  options.portable = 0;
  options.precision = "f23";
  refused(tegula_compile(path, &options, &made), "bad-option");
  options.precision = NULL;
  options.tuning = "/no/such/record";
  refused(tegula_compile(path, &options, &made), "io");
  refused(tegula_load(path, &options, &made), "bad-option");
  options.tuning = NULL;
  options.precision = "bf16";
  options.threads = 1000000;
  refused(tegula_compile(path, &options, &made), "no-threads");
  options.threads = 1;
  options.n_dims = 2;
  refused(tegula_compile(path, &options, &made), "bad-argument");
  TegulaDim dims[2] = {{"n", 3}, {"n", 4}};
  options.dims = dims;
  refused(tegula_compile(path, &options, &made), "bad-option");
  dims[1].name = NULL;
  refused(tegula_compile(path, &options, &made), "bad-argument");
  dims[1].name = "height";
  refused(tegula_compile(path, &options, &made), "unknown-dim");
  refused(tegula_load(path, &options, &made), "bad-option");
  REQUIRE(made == NULL);

  TegulaOutputs *outputs = tegula_outputs_new();
  TegulaTensor got;
  TegulaPort port;
  float numbers[2] = {1, 2};
  int64_t length = 2, negative = -2, huge = INT64_MAX;
  TegulaTensor good = vector(numbers, &length), bad = good, pair[2];
  refused(tegula_outputs_get(outputs, 0, &got), "bad-argument");
  fine(tegula_session_run(session, &good, 1, outputs));
  refused(tegula_outputs_get(outputs, 1, &got), "bad-argument");
  refused(tegula_outputs_get(outputs, 0, NULL), "bad-argument");
  refused(tegula_outputs_get(NULL, 0, &got), "bad-argument");
  refused(tegula_session_run(NULL, &good, 1, outputs), "bad-argument");
  refused(tegula_session_run(session, NULL, 1, outputs), "bad-argument");
  refused(tegula_session_run(session, &good, 1, NULL), "bad-argument");
  refused(tegula_session_run(session, NULL, 0, outputs), "missing-input");
  /* After an error there are no outputs. */
  refused(tegula_outputs_get(outputs, 0, &got), "bad-argument");
  pair[0] = pair[1] = good;
  refused(tegula_session_run(session, pair, 2, outputs), "unknown-input");
  pair[1].name = NULL;
  refused(tegula_session_run(session, pair, 2, outputs), "bad-argument");
  pair[0].name = NULL;
  refused(tegula_session_run(session, pair, 2, outputs), "missing-input");
  bad.name = "z";
  refused(tegula_session_run(session, &bad, 1, outputs), "unknown-input");
  bad = good, bad.dtype = 8;
  refused(tegula_session_run(session, &bad, 1, outputs), "bad-argument");
  bad = good, bad.dtype = TEGULA_F64;
  refused(tegula_session_run(session, &bad, 1, outputs), "dtype-mismatch");
  bad = good, bad.rank = 0;
  refused(tegula_session_run(session, &bad, 1, outputs), "shape-mismatch");
  bad = good, bad.rank = UINT32_MAX;
  refused(tegula_session_run(session, &bad, 1, outputs), "bad-argument");
  bad = good, bad.bytes = 4;
  refused(tegula_session_run(session, &bad, 1, outputs), "shape-mismatch");
  bad = good, bad.data = NULL;
  refused(tegula_session_run(session, &bad, 1, outputs), "bad-argument");
  bad = good, bad.dims = NULL;
  refused(tegula_session_run(session, &bad, 1, outputs), "bad-argument");
  bad = good, bad.dims = &negative;
  refused(tegula_session_run(session, &bad, 1, outputs), "bad-argument");
  bad = good, bad.dims = &huge;
  refused(tegula_session_run(session, &bad, 1, outputs), "shape-mismatch");
  refused(tegula_session_input(session, 0, NULL), "bad-argument");
  refused(tegula_session_input(NULL, 0, &port), "bad-argument");
  refused(tegula_session_save(session, NULL), "bad-argument");
  refused(tegula_session_save(NULL, path), "bad-argument");
  refused(tegula_session_save(session, "/no/such/folder/model.tgl"), "io");
  refused(tegula_session_stop(NULL), "bad-argument");
  fine(tegula_session_run(session, &good, 1, outputs));
  tegula_outputs_free(outputs);

  REQUIRE(tegula_session_inputs(NULL) == 0 && tegula_session_outputs(NULL) == 0);
  REQUIRE(tegula_error_text(NULL) == NULL && tegula_error_code(NULL) == NULL);
  tegula_session_free(NULL);
  tegula_outputs_free(NULL);
  tegula_error_free(NULL);
}

static void memory_is_used_again(const TegulaSession *session) {
  TegulaOutputs *outputs = tegula_outputs_new();
  TegulaTensor output;
  doubles(session, outputs, 1000, 0);
  fine(tegula_outputs_get(outputs, 0, &output));
  const void *before = output.data;
  doubles(session, outputs, 1000, 5);
  fine(tegula_outputs_get(outputs, 0, &output));
  REQUIRE(output.data == before);
  doubles(session, outputs, 0, 0);
  doubles(session, outputs, 3, 1);
  tegula_outputs_free(outputs);
}

struct work {
  const TegulaSession *session;
  float seed;
};

static void *run_often(void *given) {
  const struct work *work = given;
  TegulaOutputs *outputs = tegula_outputs_new();
  for (int i = 0; i < ROUNDS; i++) doubles(work->session, outputs, 1 + i % 17, work->seed);
  tegula_outputs_free(outputs);
  return NULL;
}

static void threads(const TegulaSession *session) {
  pthread_t ids[THREADS];
  struct work works[THREADS];
  for (int i = 0; i < THREADS; i++) {
    works[i].session = session;
    works[i].seed = (float)(i * 1000);
    REQUIRE(pthread_create(&ids[i], NULL, run_often, &works[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) REQUIRE(pthread_join(ids[i], NULL) == 0);
}

/* A real model: probabilities of one row. */
static void classifies(const char *path) {
  TegulaSession *session = NULL;
  fine(tegula_compile(path, NULL, &session));
  TegulaPort port;
  fine(tegula_session_input(session, 0, &port));
  REQUIRE(port.dtype == TEGULA_I32 && port.rank == 2 && port.dims[1] > 0);
  int64_t dims[2] = {1, port.dims[1]}, found[2];
  size_t bytes = (size_t)dims[1] * sizeof(int32_t);
  int32_t *features = calloc(1, bytes);
  REQUIRE(features != NULL);
  TegulaTensor input = {port.name, features, bytes, dims, 2, TEGULA_I32}, output;
  fine(tegula_session_output_dims(session, &input, 1, 0, found));
  TegulaOutputs *outputs = tegula_outputs_new();
  fine(tegula_session_run(session, &input, 1, outputs));
  fine(tegula_outputs_get(outputs, 0, &output));
  REQUIRE(output.rank == 2 && output.dims[0] == found[0] && output.dims[1] == found[1] && found[0] == 1);
  double sum = 0;
  for (int64_t i = 0; i < found[1]; i++) sum += ((const float *)output.data)[i];
  REQUIRE(sum > 0.9999 && sum < 1.0001);
  free(features);
  tegula_outputs_free(outputs);
  tegula_session_free(session);
}

int main(int argc, char **argv) {
  REQUIRE(argc >= 3);
  REQUIRE(tegula_abi() == TEGULA_ABI && strlen(tegula_version()) > 0);
  TegulaSession *session = NULL, *other = NULL;
  fine(tegula_compile(argv[1], NULL, &session));
  asks(session);
  bad_arguments(argv[1], session);
  memory_is_used_again(session);
  threads(session);

  /* Saved and loaded, from a file and from memory; compiled from memory, with a fixed size, portable. */
  char path[4096];
  snprintf(path, sizeof path, "%s/double.tgl", argv[2]);
  fine(tegula_session_save(session, path));
  TegulaOutputs *outputs = tegula_outputs_new();
  fine(tegula_load(path, NULL, &other));
  doubles(other, outputs, 5, 1);
  tegula_session_free(other);
  size_t bytes;
  void *content = read_file(path, &bytes);
  fine(tegula_load_bytes(content, bytes, NULL, &other));
  free(content);
  doubles(other, outputs, 5, 1);
  tegula_session_free(other);
  content = read_file(argv[1], &bytes);
  TegulaDim dim = {"n", 5};
  /* Of an earlier version, which has no `tuning`: what stands there is not read. */
  TegulaOptions options = {offsetof(TegulaOptions, tuning), NULL, NULL, &dim, 1, 1, 1, NULL, "/no/such/record", 0};
  fine(tegula_compile_bytes(content, bytes, &options, &other));
  free(content);
  doubles(other, outputs, 5, 1);
  int64_t length = 6;
  float numbers[6] = {0};
  TegulaTensor wrong = vector(numbers, &length);
  refused(tegula_session_run(other, &wrong, 1, outputs), "shape-mismatch");
  tegula_session_free(other);
  /* Outputs outlive sessions. */
  doubles(session, outputs, 4, 2);
  tegula_session_free(session);
  TegulaTensor output;
  fine(tegula_outputs_get(outputs, 0, &output));
  REQUIRE(((const float *)output.data)[3] == 10);
  tegula_outputs_free(outputs);
  if (argc > 3) classifies(argv[3]);
  puts("done");
  return 0;
}
