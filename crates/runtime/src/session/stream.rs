//! Runs that follow each other and keep what the model goes on with: its states, and the inputs that outputs share
//! their memory with (a decoder's cache). Both stay where the kernels work: nothing of them is copied between runs, nor
//! to or from a card.

use super::Session;
use crate::context::Context;
use crate::tensors::TensorView;
use tegula_base::{Diagnostic, Diagnostics, HostTensor};

/// Runs of one session in order. State buffers, if the model has any, start at zero.
pub struct Stream<'a> {
    session: &'a Session,
    context: Context,
    /// The shape of each shared input, by input, from the last run that was given them.
    shared: Vec<Vec<usize>>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(session: &'a Session) -> Stream<'a> {
        Stream { session, context: Context::default(), shared: Vec::new() }
    }

    /// As [`Session::run_into`]; states keep their values from the run before. Errors leave states undefined.
    pub fn run_into(
        &mut self,
        inputs: &[TensorView<'_>],
        outputs: &mut Vec<HostTensor>,
    ) -> Result<(), Diagnostics> {
        self.shared.clear();
        self.run(inputs, outputs, false)?;
        self.shared = inputs.iter().map(|tensor| tensor.shape.to_vec()).collect();
        Ok(())
    }

    /// A run that goes on with what the last one left in the memory that inputs and outputs share. Of `inputs` the
    /// shared ones are left out; of `outputs`, which has a place for each, the shared ones are left as they are.
    /// Errors: those of [`Session::run_into`]; no run came before that was given all inputs. They leave what is shared
    /// undefined: the next run must be given it.
    pub fn update(
        &mut self,
        inputs: &[TensorView<'_>],
        outputs: &mut Vec<HostTensor>,
    ) -> Result<(), Diagnostics> {
        let ports = self.session.inputs();
        let program = &self.session.package().program;
        if self.shared.len() != ports.len() {
            let message = "no run before has left a cache to go on with: the first one is given all inputs";
            return Err(Diagnostic::error("missing-input", message).into());
        }
        let shapes = std::mem::take(&mut self.shared);
        let mut given = inputs.iter().copied();
        let mut views = Vec::with_capacity(ports.len());
        for (index, (port, shape)) in ports.iter().zip(&shapes).enumerate() {
            match program.output_in(index) {
                Some(_) => views.push(TensorView { dtype: port.dtype, shape, bytes: &[] }),
                None => views.extend(given.next()),
            }
        }
        views.extend(given);
        self.run(&views, outputs, true)?;
        self.shared = shapes;
        Ok(())
    }

    fn run(
        &mut self,
        inputs: &[TensorView<'_>],
        outputs: &mut Vec<HostTensor>,
        keeps_shared: bool,
    ) -> Result<(), Diagnostics> {
        let running = self.session.stops.begin();
        let bound = self.session.bind(inputs, keeps_shared)?;
        self.context.keeps_shared = keeps_shared;
        self.session.run_bound(running, inputs, outputs, &bound, &mut self.context, None)
    }

    /// Sets all states to zero.
    pub fn reset(&mut self) {
        self.context.restart();
    }
}
