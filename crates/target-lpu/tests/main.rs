//! Regions through the whole compiler: verified, simulated, and compared with the stream executor and the evaluator.

mod bounds;
mod channels;
mod factors;
mod regions;
mod repeats;
mod scatters;
mod support;
