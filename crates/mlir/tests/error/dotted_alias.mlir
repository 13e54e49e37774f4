// Dots belong to dialects.
!d.a = i32
// -----
// line 2:1: expected an alias name without `.`, which marks a dialect's own name, found `!d.a`
