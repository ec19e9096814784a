//! Dependences, schedule trees, mapping to the GPU, legality
