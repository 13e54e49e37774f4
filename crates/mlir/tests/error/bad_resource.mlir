// A resource starts with its alignment.
{-# dialect_resources: { builtin: { w: "0x0400" } } #-}
// -----
// line 2:40: expected a resource as hex string `"0x..."` that starts with its 4-byte alignment, found `"0x0400"`
