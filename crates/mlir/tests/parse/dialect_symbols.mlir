// Attributes and types of unknown dialects are kept as written.
%0 = "t.make"() {
  a = #d.plain, b = #d.body<>, c = #d<"verbose">, d = #d.nested<[{(<x>)}], "]>\22", a -> b>,
  e = #d.spaces<  1 ,
      2 >, f = #d.arrow<(i32) -> i32>, g = #d.deep.name<1>, h = #d_1.x$y-z
} : () -> !d.handle
%1 = "t.take"(%0) {t = [!d.plain, !d<"verbose">, !d.body<tensor<2x!d.inner>, "a\\">]} : (!d.handle) -> !d.fn<(i32) -> (f32)>
"t.drop"(%1) : (!d.fn<(i32) -> (f32)>) -> ()
// -----
%0 = "t.make"() {a = #d.plain, b = #d.body<>, c = #d<"verbose">, d = #d.nested<[{(<x>)}], "]>\22", a -> b>, e = #d.spaces<  1 ,
      2 >, f = #d.arrow<(i32) -> i32>, g = #d.deep.name<1>, h = #d_1.x$y-z} : () -> !d.handle
%1 = "t.take"(%0) {t = [!d.plain, !d<"verbose">, !d.body<tensor<2x!d.inner>, "a\\">]} : (!d.handle) -> !d.fn<(i32) -> (f32)>
"t.drop"(%1) : (!d.fn<(i32) -> (f32)>) -> ()
