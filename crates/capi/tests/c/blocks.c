/* Random argument blocks: what a caller may hand over by mistake while lengths are true.
 *
 *   blocks DOUBLE.onnx FOLDER SEED COUNT
 *
 * Every call must come back, with results or with an error that has a code and a text. */

#include "check.h"

static uint64_t state;

/* Xorshift (Marsaglia 2003). */
static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) % below;
}

static const int64_t EXTENTS[] = {0, 1, 2, 3, 4, 16, -1, INT64_MIN, INT64_MAX, 1LL << 31, 1LL << 32, 1LL << 62};
static const char *const NAMES[] = {NULL, "x", "y", "", "\xff\xfe", "n", "a name that is longer than any other one"};
enum { N_EXTENTS = sizeof EXTENTS / sizeof *EXTENTS, N_NAMES = sizeof NAMES / sizeof *NAMES, ROOM = 256, RANK = 6 };

static char memory[ROOM + 16];
static int64_t dims[4][RANK];

/* A tensor of which `bytes` and `rank` are true and all else is drawn; now and then one that is right. */
static TegulaTensor tensor(int index) {
  TegulaTensor made = {draw(2) ? "x" : NAMES[draw(N_NAMES)], NULL, 0, NULL, 0, 0};
  int is_right = draw(3) == 0;
  made.rank = is_right ? 1 : (uint32_t)draw(RANK + 1);
  for (uint32_t i = 0; i < made.rank; i++)
    dims[index][i] = is_right ? (int64_t)draw(ROOM / 4) : EXTENTS[draw(N_EXTENTS)];
  made.dims = draw(16) ? dims[index] : NULL;
  made.bytes = is_right ? (size_t)dims[index][0] * 4 : draw(ROOM + 1);
  made.data = draw(16) ? memory + draw(16) : NULL;
  made.dtype = is_right || draw(2) ? TEGULA_F32 : (int32_t)draw(40) - 5;
  if (draw(64) == 0) made.rank = 65 + (uint32_t)draw(1u << 31), made.dims = NULL;
  return made;
}

static uint64_t n_fine, n_refused;

static int is_fine(TegulaError *error) {
  if (error == NULL) {
    n_fine++;
    return 1;
  }
  REQUIRE(strlen(tegula_error_code(error)) > 0 && strlen(tegula_error_text(error)) > 0);
  REQUIRE(strcmp(tegula_error_code(error), "internal") != 0);
  tegula_error_free(error);
  n_refused++;
  return 0;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 5);
  state = strtoull(argv[3], NULL, 10) * 2 + 1;
  uint64_t count = strtoull(argv[4], NULL, 10);
  TegulaSession *session = NULL;
  fine(tegula_compile(argv[1], NULL, &session));
  char path[4096];
  snprintf(path, sizeof path, "%s/blocks.tgl", argv[2]);
  fine(tegula_session_save(session, path));
  size_t bytes[2];
  char *files[2] = {read_file(argv[1], &bytes[0]), read_file(path, &bytes[1])};
  TegulaOutputs *outputs = tegula_outputs_new();
  for (uint64_t i = 0; i < count; i++) {
    const TegulaSession *given = draw(32) ? session : NULL;
    TegulaTensor inputs[4], output;
    size_t n_inputs = draw(4) ? 1 : draw(4);
    for (size_t n = 0; n < n_inputs; n++) inputs[n] = tensor((int)n);
    const TegulaTensor *block = draw(32) ? inputs : NULL;
    if (is_fine(tegula_session_run(given, block, n_inputs, draw(32) ? outputs : NULL))) {
      is_fine(tegula_outputs_get(outputs, draw(3), draw(8) ? &output : NULL));
    }
    int64_t found[RANK];
    is_fine(tegula_session_output_dims(given, block, n_inputs, draw(3), draw(8) ? found : NULL));
    TegulaPort port;
    is_fine(tegula_session_input(given, draw(2) ? 0 : (size_t)state, draw(8) ? &port : NULL));
    if (i % 16 == 0) {
      /* Models and packages cut off and changed, and options of all kinds. */
      int which = (int)draw(2);
      char *file = files[which];
      TegulaDim named[2] = {{NAMES[draw(N_NAMES)], EXTENTS[draw(N_EXTENTS)]}, {NAMES[draw(N_NAMES)], 1}};
      TegulaOptions options = {draw(4) ? sizeof options : draw(100), NULL, NULL, named, draw(3), 1, (uint32_t)draw(3), NULL, NULL, draw(2)};
      if (draw(4) == 0) options.target = NAMES[draw(N_NAMES)];
      if (draw(4) == 0) options.machine = NAMES[draw(N_NAMES)];
      if (draw(8) == 0) options.tuning = NAMES[draw(N_NAMES)];
      if (draw(4) == 0) options.precision = draw(2) ? "bf16" : NAMES[draw(N_NAMES)];
      size_t length = draw(2) ? bytes[which] : draw(bytes[which]);
      size_t place = draw(bytes[which]);
      char kept = file[place];
      if (draw(2)) file[place] = (char)draw(256);
      TegulaSession *made = NULL;
      TegulaError *(*make)(const void *, size_t, const TegulaOptions *, TegulaSession **) =
          which ? tegula_load_bytes : tegula_compile_bytes;
      if (is_fine(make(draw(32) ? file : NULL, length, draw(4) ? NULL : &options, &made)))
        tegula_session_free(made);
      else
        REQUIRE(made == NULL);
      file[place] = kept;
    }
  }
  tegula_outputs_free(outputs);
  tegula_session_free(session);
  free(files[0]);
  free(files[1]);
  REQUIRE(n_fine > count / 20 && n_refused > count / 20);
  printf("%llu fine, %llu refused\n", (unsigned long long)n_fine, (unsigned long long)n_refused);
  return 0;
}
