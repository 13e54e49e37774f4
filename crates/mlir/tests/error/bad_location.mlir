// Locations have few words.
"t.op"() : () -> () loc(nowhere)
// -----
// line 2:25: expected a location, found `nowhere`
