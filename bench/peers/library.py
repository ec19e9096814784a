#!/usr/bin/env python3
"""Times the library functions that programs would call for the kernels of bench/everyday2, at the same sizes, by PyTorch (cuBLAS, cuDNN and its own kernels), in IEEE
arithmetic (no TF32): a line of JSON for each, the median of seven after a warm-up.

  library.py [REGEX]
"""

import json
import re
import statistics
import sys

import torch
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True


def random(*shape, kind=torch.float32):
    """Random numbers on the device."""
    return torch.rand(*shape, device="cuda", dtype=kind) - 0.5


def rows():
    """16384 rows of 1024."""
    return random(16384, 1024)


def kernel(name):
    """The call of a kernel's library function on data of its own, or None."""
    n, m, big = 16384, 1024, 1 << 26
    match name:
        case "softmax":
            x = rows()
            return lambda: torch.softmax(x, 1)
        case "layer_norm":
            x, a, b = rows(), random(m), random(m)
            return lambda: F.layer_norm(x, (m,), a, b)
        case "rms_norm":
            x, a = rows(), random(m)
            return lambda: F.rms_norm(x, (m,), a)
        case "batch_norm":
            x, a, b = random(32, 128, 64, 64), random(128), random(128)
            return lambda: F.batch_norm(x, None, None, a, b, training=True)
        case "attention_one":
            q, k, v = random(1, 1, 1, 256), random(1, 1, 65536, 256), random(1, 1, 65536, 256)
            return lambda: F.scaled_dot_product_attention(q, k, v, scale=1.0)
        case "attention":
            q, k, v = (random(1, 128, 256, 64) for _ in range(3))
            return lambda: F.scaled_dot_product_attention(q, k, v)
        case "row_sums":
            x = random(16384, 4096)
            return lambda: x.sum(1)
        case "short_rows":
            x = random(1 << 21, 32)
            return lambda: x.sum(1)
        case "column_means":
            x = random(16384, 4096)
            return lambda: x.mean(0)
        case "argmax_rows":
            x = rows()
            return lambda: x.argmax(1)
        case "cross_entropy":
            x, label = rows(), torch.randint(0, m, (n,), device="cuda")
            return lambda: F.cross_entropy(x, label, reduction="none")
        case "prefix_rows":
            x = rows()
            return lambda: x.cumsum(1)
        case "gelu_tanh":
            x = random(big)
            return lambda: F.gelu(x, approximate="tanh")
        case "column_minima":
            x = torch.randint(0, 1 << 30, (200, 500000), device="cuda", dtype=torch.int32)
            return lambda: x.amin(0)
        case "conv3x3":
            x, w = random(16, 128, 58, 58), random(128, 128, 3, 3)
            return lambda: F.conv2d(x, w)
        case "conv1x1":
            x, w, b = random(32, 256, 28, 28), random(256, 256, 1, 1), random(256)
            return lambda: F.conv2d(x, w, b)
        case "conv_strided":
            x, w = random(32, 3, 229, 229), random(64, 3, 7, 7)
            return lambda: F.relu(F.conv2d(x, w, stride=2))
        case "depthwise":
            x, w = random(32, 128, 114, 114), random(128, 1, 3, 3)
            return lambda: F.conv2d(x, w, groups=128)
        case "max_pool":
            x = random(1, 2048, 224, 224)
            return lambda: F.max_pool2d(x, 2)
        case "gemm" | "symm" | "trmm" | "syrk":
            a, b, c = (random(2048, 2048) for _ in range(3))
            return (lambda: torch.addmm(c, a, b, beta=0.5, alpha=1.5)) if name == "gemm" else (lambda: torch.mm(a, b))
        case "gemm_small":
            a, b = random(384, 384), random(384, 384)
            return lambda: torch.mm(a, b)
        case "tall":
            a, b = random(1000000, 32), random(32, 32)
            return lambda: torch.mm(a, b)
        case "gram":
            a = random(1000000, 32)
            return lambda: torch.mm(a.t(), a)
        case "batched":
            a, b = random(100000, 16, 16), random(100000, 16, 16)
            return lambda: torch.bmm(a, b)
        case "mttkrp":
            x, b, c = random(384, 384, 384), random(384, 32), random(384, 32)
            return lambda: (torch.matmul(x, c) * b).sum(1)
        case "matvec" | "matvec_t":
            a, x = random(8192, 8192), random(8192)
            return (lambda: torch.mv(a, x)) if name == "matvec" else (lambda: torch.mv(a.t(), x))
        case "covariance":
            x = random(4096, 1024)
            return lambda: torch.cov(x.t())
        case "distances":
            a, b = random(2048, 64), random(2048, 64)
            return lambda: torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
        case "contract":
            a, b = random(256, 256, 256), random(256, 256)
            return lambda: torch.matmul(b.t(), a)
        case "copy":
            a, b = random(big), random(big)
            return lambda: a.copy_(b)
        case "dot":
            a, b = random(big), random(big)
            return lambda: torch.dot(a, b)
        case "norm":
            a = random(big, kind=torch.float64)
            return lambda: torch.linalg.vector_norm(a)
        case "transpose":
            a = random(8192, 8192)
            return lambda: a.t().contiguous()
        case "gather":
            a, k = random(big // 64), torch.randint(0, big // 64, (big,), device="cuda")
            return lambda: a[k]
        case "logistic":
            x = random(1 << 25, kind=torch.float64)
            return lambda: torch.sigmoid(x)
    return None


NAMES = [
    "softmax", "layer_norm", "rms_norm", "batch_norm", "attention_one", "attention", "row_sums", "short_rows", "column_means", "argmax_rows", "cross_entropy",
    "prefix_rows", "gelu_tanh", "column_minima", "conv3x3", "conv1x1", "conv_strided", "depthwise", "max_pool", "gemm", "symm", "trmm", "syrk", "gemm_small", "tall",
    "gram", "batched", "mttkrp", "matvec", "matvec_t", "covariance", "distances", "contract", "copy", "dot", "norm", "transpose", "gather", "logistic",
]


def milliseconds(call):
    """The median of seven."""
    times = []
    for _ in range(9):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[2:])


def main():
    """A line for each name."""
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    for name in NAMES:
        if re.search(pattern, name):
            try:
                print(json.dumps({"kernel": name, "library ms": round(milliseconds(kernel(name)), 5)}), flush=True)
            except RuntimeError as error:
                print(json.dumps({"kernel": name, "problem": str(error)[:200]}), flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
