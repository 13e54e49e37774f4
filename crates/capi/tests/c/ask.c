/* One request as a user of the command makes it; prints what is wrong.
 *
 *   ask MODEL.onnx|PACKAGE.tgl [NAME DTYPE RAW_FILE DIM...]
 *
 * Status 1: refused, the report is on stdout. 0: not refused. */

#include "check.h"

static int told(TegulaError *error) {
  if (error == NULL) return 0;
  puts(tegula_error_text(error));
  tegula_error_free(error);
  return 1;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2 || (argc >= 5 && argc < 16));
  size_t length = strlen(argv[1]);
  int is_package = length > 4 && strcmp(argv[1] + length - 4, ".tgl") == 0;
  TegulaSession *session = NULL;
  if (told(is_package ? tegula_load(argv[1], NULL, &session) : tegula_compile(argv[1], NULL, &session))) return 1;
  if (argc == 2) return 0;
  int64_t dims[16];
  for (int i = 5; i < argc; i++) dims[i - 5] = strtoll(argv[i], NULL, 10);
  TegulaTensor input = {argv[2], NULL, 0, dims, (uint32_t)(argc - 5), (int32_t)strtol(argv[3], NULL, 10)};
  void *data = read_file(argv[4], &input.bytes);
  input.data = data;
  TegulaOutputs *outputs = tegula_outputs_new();
  int refused = told(tegula_session_run(session, &input, 1, outputs));
  tegula_outputs_free(outputs);
  tegula_session_free(session);
  free(data);
  return refused;
}
