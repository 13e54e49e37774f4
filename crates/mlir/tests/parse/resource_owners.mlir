// Resources of several dialects, their keys grouped by owner. mlir-opt: refuses, it must know the owner.
{-#
  dialect_resources: { tgn: { a: "0x01000000" }, builtin: { b: "0x0200000011" } },
  external_resources: { x: { a: true }, y: { a: false } }
#-}
{-#
  dialect_resources: { tgn: { c: "0x01000000FF" } },
  external_resources: { x: { b: "late" } }
#-}
// -----

{-#
  dialect_resources: {
    tgn: {
      a: "0x01000000",
      c: "0x01000000FF"
    },
    builtin: {
      b: "0x0200000011"
    }
  },
  external_resources: {
    x: {
      a: true,
      b: "late"
    },
    y: {
      a: false
    }
  }
#-}
