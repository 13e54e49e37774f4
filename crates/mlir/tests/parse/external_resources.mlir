// External resources alone, and a sidecar in front of the operations.
{-# external_resources: { mlir_reproducer: { pipeline: "builtin.module(cse)", disable_threading: true, verify_each: false } } #-}
"t.op"() : () -> ()
// -----
"t.op"() : () -> ()

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse)",
      disable_threading: true,
      verify_each: false
    }
  }
#-}
