//! The run-time library: CUDA driver, emulated device, transfers, profile
