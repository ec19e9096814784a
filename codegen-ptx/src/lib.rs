//! Mapped kernels to target-neutral kernel IR, PTX, emulated code and the host plan
