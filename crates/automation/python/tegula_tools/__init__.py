"""Scripts that the automation runs: models and cases drawn, other engines asked. `cargo xtask` starts each with `python -m`."""
