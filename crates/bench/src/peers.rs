//! The engines that Tegula is measured against, at the versions that `data/models.json` pins, each in an environment
//! below `target/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tegula_automation::catalog::Catalog;
use tegula_automation::python;
use tegula_automation::shell::Shell;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    OnnxRuntime,
    OpenVinoF32,
    /// Its own choice on processors with bf16: float models are computed in it.
    OpenVinoBf16,
}

impl Peer {
    pub const ALL: [Peer; 3] = [Peer::OnnxRuntime, Peer::OpenVinoF32, Peer::OpenVinoBf16];

    pub fn name(self) -> &'static str {
        match self {
            Peer::OnnxRuntime => "onnxruntime",
            Peer::OpenVinoF32 => "openvino-f32",
            Peer::OpenVinoBf16 => "openvino-bf16",
        }
    }

    /// How tables call it.
    pub fn title(self) -> &'static str {
        match self {
            Peer::OnnxRuntime => "ONNX Runtime",
            Peer::OpenVinoF32 => "OpenVINO f32",
            Peer::OpenVinoBf16 => "OpenVINO bf16",
        }
    }

    /// Errors: there is no peer of this name.
    pub fn named(name: &str) -> Result<Peer> {
        let names: Vec<&str> = Peer::ALL.iter().map(|peer| peer.name()).collect();
        Peer::ALL
            .into_iter()
            .find(|peer| peer.name() == name)
            .with_context(|| format!("there is no peer `{name}`; the peers are {}", names.join(", ")))
    }

    fn package(self) -> &'static str {
        match self {
            Peer::OnnxRuntime => "onnxruntime",
            Peer::OpenVinoF32 | Peer::OpenVinoBf16 => "openvino",
        }
    }

    pub fn version(self, catalog: &Catalog) -> &str {
        let pins = [&catalog.pins, &catalog.peers];
        pins.iter().find_map(|pins| pins.get(self.package())).map_or("unpinned", String::as_str)
    }
}

/// Interpreters by peer.
pub struct Peers(BTreeMap<Peer, PathBuf>);

impl Peers {
    /// Installs those that are not there yet.
    pub fn installed(catalog: &Catalog, peers: &[Peer]) -> Result<Peers> {
        let with_interpreter = |peer: &Peer| {
            let python = match peer {
                Peer::OnnxRuntime => python::with_pins(catalog)?,
                Peer::OpenVinoF32 | Peer::OpenVinoBf16 => python::with_peers(catalog)?,
            };
            Ok((*peer, python))
        };
        Ok(Peers(peers.iter().map(with_interpreter).collect::<Result<_>>()?))
    }

    /// A process that reads `[{inputs: {name: file}, outputs: folder}]` and puts a model's outputs there, `<place>.npy`.
    pub fn outputs(&self, peer: Peer, model: &Path) -> Shell {
        let python = self.0.get(&peer).expect("invariant: whoever asks for a peer has installed it");
        python::script(python, "peer_outputs").arg(peer.name()).arg(model)
    }

    /// A process that answers `run N`, see `race.rs`; without a model one that only waits with the inputs at hand.
    pub fn serve_rounds(
        &self,
        peer: Peer,
        model: Option<&Path>,
        inputs: &BTreeMap<String, PathBuf>,
        threads: usize,
    ) -> Shell {
        let python = self.0.get(&peer).expect("invariant: whoever asks for a peer has installed it");
        let mut command = python::script(python, "peer_rounds").arg(peer.name());
        command = command.arg(model.unwrap_or(Path::new("-"))).arg(threads.to_string());
        for (name, file) in inputs {
            command = command.arg(format!("{name}={}", file.display()));
        }
        command
    }
}
