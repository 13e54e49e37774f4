// The sidecar has two sections.
{-# resources: {} #-}
// -----
// line 2:5: expected `dialect_resources` or `external_resources`, found `resources`
