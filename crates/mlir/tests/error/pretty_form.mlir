// Only the generic form is read.
module {
}
// -----
// line 2:1: expected an operation in generic form (`mlir-opt --mlir-print-op-generic` writes it), found `module`
