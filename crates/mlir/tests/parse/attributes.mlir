// Every built-in attribute.
"t.attributes"() {
  unit, also_unit = unit, yes = true, no = false,
  integers = [0, 7, -1 : i32, 255 : i8, 0xFF : i8, -0x5 : i16, 3 : index, 18446744073709551615, 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF : i200, 5 : si8, 5 : ui8],
  floats = [1.0, -2.5e-3 : f32, 1. : f16, 3.25E+7 : bf16, 0x7F800000 : f32, 0x7FF0000000000000 : f64, 0xFC00 : f16],
  strings = ["", "plain", "tab\t line\n quote\" slash\\ byte\FF nul\00 \0A", "naïve ✓", "typed" : i32, "dialect" : !d.str],
  array = [], nested = [[], [1, [2.0]], "x"], dictionary = {}, dictionaries = {a = {b = {c}}, "odd key" = 1, i32 = i32, true = false},
  types = [i32, tensor<2xf32>, (i32) -> f32, !d.t],
  symbols = [@a, @a::@b, @"b c", @root::@"b c"::@d.e$f, @"", @"quoted"],
  affine = [affine_map<()[s0] -> ()>, affine_map< (d0, d1)[s0] -> (d0 floordiv 2 + s0, -d1 mod 4) >, affine_set<(d0) : (d0 - 1 >= 0, d0 == 3)>, affine_set<(d0)[s0] : (-d0 + s0 >= 0)>,
    affine_map<(d0) -> // ends here >
 (d0) // and here
>],
  layouts = [strided<[1, ?], offset: ?>, strided<[]>, strided<[4,1]>],
  distincts = [distinct[0]<42 : i32>, distinct[1]<>],
  location = loc("file.py":3:4),
  "quoted" = 1, "quoted name" = 2, loc
} : () -> ()
// -----
"t.attributes"() {unit, also_unit, yes = true, no = false, integers = [0, 7, -1 : i32, 255 : i8, 255 : i8, -5 : i16, 3 : index, 18446744073709551615, 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF : i200, 5 : si8, 5 : ui8], floats = [1.0, -2.5e-3 : f32, 1. : f16, 3.25E+7 : bf16, 0x7F800000 : f32, 0x7FF0000000000000 : f64, 0xFC00 : f16], strings = ["", "plain", "tab\09 line\0A quote\22 slash\\ byte\FF nul\00 \0A", "na\C3\AFve \E2\9C\93", "typed" : i32, "dialect" : !d.str], array = [], nested = [[], [1, [2.0]], "x"], dictionary = {}, dictionaries = {a = {b = {c}}, "odd key" = 1, i32 = i32, true = false}, types = [i32, tensor<2xf32>, (i32) -> f32, !d.t], symbols = [@a, @a::@b, @"b c", @root::@"b c"::@d.e$f, @"", @quoted], affine = [affine_map<()[s0] -> ()>, affine_map<(d0, d1)[s0] -> (d0 floordiv 2 + s0, -d1 mod 4)>, affine_set<(d0) : (d0 - 1 >= 0, d0 == 3)>, affine_set<(d0)[s0] : (-d0 + s0 >= 0)>, affine_map<(d0) -> 
 (d0)>], layouts = [strided<[1, ?], offset: ?>, strided<[]>, strided<[4,1]>], distincts = [distinct[0]<42 : i32>, distinct[1]<>], location = loc("file.py":3:4), quoted = 1, "quoted name" = 2, loc} : () -> ()
