// An alias is defined once.
#a = 1
#a = 2
// -----
// line 3:1: expected a new name, as this alias is already defined, found `#a`
