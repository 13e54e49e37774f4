// Doubles until the limit is passed or five rounds are over; what every round saw is stacked, rows not reached are 0.
// run: i32[] 1; i32[] 100 => i64[] 5; i32[] 32; i32[5] 1 2 4 8 16
// run: i32[] 7; i32[] 20 => i64[] 2; i32[] 28; i32[5] 7 14 0 0 0
// run: i32[] 7; i32[] -1 => i64[] 0; i32[] 7; i32[5] 0
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "limit"], result_names = ["rounds", "y", "seen"]}> ({
  ^bb0(%x: tensor<i32>, %limit: tensor<i32>):
    %go = "tgn.elementwise"(%x, %limit) <{f = "lt"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %n, %y, %seen = "tgn.loop"(%go, %x) <{trip = 5, stacked = 1}> ({
    ^bb0(%i: tensor<i64>, %z: tensor<i32>):
      %w = "tgn.elementwise"(%z, %z) <{f = "add"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %more = "tgn.elementwise"(%w, %limit) <{f = "lt"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tgn.yield"(%more, %w, %z) : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    }) : (tensor<i1>, tensor<i32>) -> (tensor<i64>, tensor<i32>, tensor<5xi32>)
    "tgn.return"(%n, %y, %seen) : (tensor<i64>, tensor<i32>, tensor<5xi32>) -> ()
  }) : () -> ()
}) : () -> ()
