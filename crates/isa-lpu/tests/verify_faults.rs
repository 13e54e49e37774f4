//! Faults of schedules by name, each planted into a schedule that verifies.
