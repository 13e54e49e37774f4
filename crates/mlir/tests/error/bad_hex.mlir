// Hex strings hold whole bytes.
"t.op"() {a = dense<"0x123"> : tensor<2xi8>} : () -> ()
// -----
// line 2:21: expected a hex string `"0x..."` of whole bytes, found `"0x123"`
