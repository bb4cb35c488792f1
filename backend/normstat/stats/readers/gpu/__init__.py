"""Tables of GPUs: nvidia-smi, dcgmi and rocm-smi."""
