// An empty file is a module without operations.
// -----
