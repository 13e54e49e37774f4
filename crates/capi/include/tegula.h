/* Tegula: compiles ONNX models to machine code and runs them. Written by cbindgen from crates/capi/src.
 *
 * Every function that may fail gives NULL, or an error that the caller frees; what it would have filled in is left alone, but a failed
 * run leaves its outputs empty.
 * Pointers must be NULL or as their comment says: lengths are trusted. Text is UTF-8 and ends with a zero.
 * Memory that a function only reads is the caller's, and need not outlive the call unless its comment says so.
 * A session may be used by many threads at once. An outputs object and an error belong to one thread at a time.
 * Nothing is printed, and no Rust panic leaves a function: it is an error of code "internal". */

#ifndef TEGULA_H
#define TEGULA_H

#include <stddef.h>
#include <stdint.h>

// Element types: the numbers of ONNX (`TensorProto.DataType`).
#define TEGULA_F32 1

#define TEGULA_U8 2

#define TEGULA_I8 3

#define TEGULA_U16 4

#define TEGULA_I16 5

#define TEGULA_I32 6

#define TEGULA_I64 7

// A byte each, 0 or 1.
#define TEGULA_BOOL 9

#define TEGULA_F16 10

#define TEGULA_F64 11

#define TEGULA_U32 12

#define TEGULA_U64 13

#define TEGULA_BF16 16

#define TEGULA_F8E4M3FN 17

#define TEGULA_F8E4M3FNUZ 18

#define TEGULA_F8E5M2 19

#define TEGULA_F8E5M2FNUZ 20

// Types of less than 8 bits are a byte each: integers extended, floats with zeros above.
#define TEGULA_U4 21

#define TEGULA_I4 22

#define TEGULA_F4E2M1 23

#define TEGULA_F8E8M0 24

#define TEGULA_U2 25

#define TEGULA_I2 26

#define TEGULA_F6E2M3 27

#define TEGULA_F6E3M2 28

// The version of this interface: a later library of the same number runs programs made for an earlier one.
#define TEGULA_ABI 1

// A size that a tensor or port does not know before the run.
#define TEGULA_OPEN -1

// Why a request failed.
typedef struct TegulaError TegulaError;

// What a run gave. Its memory is used again by the next run that it is given to.
typedef struct TegulaOutputs TegulaOutputs;

// A compiled model that is ready to run.
typedef struct TegulaSession TegulaSession;

// A value for a named size of a model.
typedef struct {
  const char *name;
  int64_t value;
} TegulaDim;

// How to compile or load; all zeros but `size`, or NULL in its place, is the default.
typedef struct {
  // sizeof(TegulaOptions).
  size_t size;
  // Who runs kernels: "cpu", "cuda" (the first NVIDIA GPU), "sim-ptx" (a simulated one) or "sim-x86" (a
  // simulated processor); NULL: "cpu".
  const char *target;
  // A machine class or machine file to compile for; NULL: what the target is. Packages have one already.
  const char *machine;
  // Values of named sizes; the others stay open, and each run may have its own. Packages have theirs already.
  const TegulaDim *dims;
  size_t n_dims;
  // Threads that share a run; 0: one a core that the process may use, of one NUMA node.
  uint32_t threads;
  // 1: kernels for any processor, run slowly, instead of machine code.
  uint32_t portable;
  // "f32", or "bf16", which rounds factors of products where the machine multiplies such, and keeps sums; NULL: "f32".
  // Streaming chips have "f16" and "f16x2" in its place.
  const char *precision;
  // A file of tiles that `tegula tune` measured for the machine, taken in place of those chosen without measuring;
  // NULL: none. Those of contractions that the model has not count nothing. Packages have theirs already.
  const char *tuning;
  // 1: a run stops at an index outside of its axis, with the node, the index and the extent, instead of clamping it.
  // Packages are compiled one way or the other.
  uint32_t checked;
} TegulaOptions;

// An input or output of a model. Pointers live as long as the session.
typedef struct {
  const char *name;
  // A size each; TEGULA_OPEN where it is not a number.
  const int64_t *dims;
  // Each size as text: "3", "batch", "2 * width + 1".
  const char *const *sizes;
  uint32_t rank;
  // TEGULA_F32 and its like.
  int32_t dtype;
} TegulaPort;

// A dense tensor in memory, row by row in this machine's byte order. An array with strides is copied by its owner.
typedef struct {
  // Of an input, or NULL in all of them where they stand in the model's order.
  const char *name;
  // May be NULL where `bytes` is 0. Memory that is aligned as elements are is read where it lies.
  const void *data;
  // The product of the dims, times the bytes of an element.
  size_t bytes;
  // `rank` sizes; may be NULL where `rank` is 0.
  const int64_t *dims;
  uint32_t rank;
  // TEGULA_F32 and its like.
  int32_t dtype;
} TegulaTensor;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// TEGULA_ABI of the library that is loaded.
uint32_t tegula_abi(void);

// The library's version, such as "0.1.0".
const char *tegula_version(void);

// The first error's code, such as "shape-mismatch"; it lives as long as the error. NULL of NULL.
const char *tegula_error_code(const TegulaError *error);

// The whole report; it lives as long as the error. NULL of NULL.
const char *tegula_error_text(const TegulaError *error);

// NULL is fine.
void tegula_error_free(TegulaError *error);

// Compiles a model file and makes it ready to run. Free the session.
TegulaError *tegula_compile(const char *path,
                            const TegulaOptions *options,
                            TegulaSession **session);

// As tegula_compile, of a model in memory. Data beside its file is not found.
TegulaError *tegula_compile_bytes(const void *model,
                                  size_t bytes,
                                  const TegulaOptions *options,
                                  TegulaSession **session);

// Loads a package file, which must not change while the session lives. Of the options `target` and `threads` count.
TegulaError *tegula_load(const char *path,
                         const TegulaOptions *options,
                         TegulaSession **session);

// As tegula_load, of a package in memory, which is copied.
TegulaError *tegula_load_bytes(const void *package,
                               size_t bytes,
                               const TegulaOptions *options,
                               TegulaSession **session);

// No thread may run it any more. NULL is fine.
void tegula_session_free(TegulaSession *session);

// Writes the compiled model to a package file: whole, or not at all.
TegulaError *tegula_session_save(const TegulaSession *session, const char *path);

// How many inputs the model has; 0 of NULL.
size_t tegula_session_inputs(const TegulaSession *session);

// How many outputs the model has; 0 of NULL.
size_t tegula_session_outputs(const TegulaSession *session);

// Name, element type and sizes of an input.
TegulaError *tegula_session_input(const TegulaSession *session, size_t index, TegulaPort *port);

// Name, element type and sizes of an output.
TegulaError *tegula_session_output(const TegulaSession *session, size_t index, TegulaPort *port);

// The sizes of an output for inputs of these shapes, whose data is not looked at: `rank` sizes of that output's port
// into `dims`, TEGULA_OPEN where a size depends on the inputs' elements.
TegulaError *tegula_session_output_dims(const TegulaSession *session,
                                        const TegulaTensor *inputs,
                                        size_t n_inputs,
                                        size_t output,
                                        int64_t *dims);

// An empty place for what runs give. Free it.
TegulaOutputs *tegula_outputs_new(void);

// NULL is fine.
void tegula_outputs_free(TegulaOutputs *outputs);

// An output of the last run; its pointers live until the next run with these outputs, or until they are freed.
TegulaError *tegula_outputs_get(const TegulaOutputs *outputs,
                                size_t index,
                                TegulaTensor *tensor);

// Runs the model. What the outputs held is gone; where it is large enough its memory is used again, so that a run of
// shapes that were run before needs no more. After an error they hold none. No input may lie in these outputs' memory:
// what one run gives to the next is kept in outputs of its own, two of them in turn.
TegulaError *tegula_session_run(const TegulaSession *session,
                                const TegulaTensor *inputs,
                                size_t n_inputs,
                                TegulaOutputs *outputs);

// Ends the runs in progress with an error of code "run-stopped".
TegulaError *tegula_session_stop(const TegulaSession *session);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TEGULA_H */
