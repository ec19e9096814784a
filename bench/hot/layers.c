/* Deep learning in C: a transformer's layers forward and backward, layers of a convolutional network, an optimiser's step. */
#include "data.h"

#include <float.h>

/* A fully connected layer, some rows at once so that a weight is loaded once for them. */
LOOP void matmul_rows(float *out, const float *inp, const float *weight, const float *bias, int B, int T, int C, int OC) {
  const int UNROLL = 8;
  for (int obt = 0; obt < B * T; obt += UNROLL) {
    for (int o = 0; o < OC; o++) {
      float result[UNROLL];
      for (int k = 0; k < UNROLL; k++)
        result[k] = bias != NULL ? bias[o] : 0.0f;
      for (int i = 0; i < C; i++) {
        float w = weight[i + o * C];
        for (int k = 0; k < UNROLL; k++) {
          int bt = obt + k;
          result[k] += inp[bt * C + i] * w;
        }
      }
      for (int k = 0; k < UNROLL; k++) {
        int bt = obt + k;
        out[bt * OC + o] = result[k];
      }
    }
  }
}

/* Its gradients. */
LOOP void matmul_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp, const float *weight, int B, int T,
                          int C, int OC) {
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      const float *dout_bt = dout + b * T * OC + t * OC;
      float *dinp_bt = dinp + b * T * C + t * C;
      for (int o = 0; o < OC; o++) {
        const float *wrow = weight + o * C;
        float d = dout_bt[o];
        for (int i = 0; i < C; i++)
          dinp_bt[i] += wrow[i] * d;
      }
    }
  }
  for (int o = 0; o < OC; o++) {
    for (int b = 0; b < B; b++) {
      for (int t = 0; t < T; t++) {
        const float *dout_bt = dout + b * T * OC + t * OC;
        const float *inp_bt = inp + b * T * C + t * C;
        float *dwrow = dweight + o * C;
        float d = dout_bt[o];
        if (dbias != NULL)
          dbias[o] += d;
        for (int i = 0; i < C; i++)
          dwrow[i] += inp_bt[i] * d;
      }
    }
  }
}

LOOP void layernorm_forward(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias, int B, int T, int C) {
  float eps = 1e-5f;
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      const float *x = inp + b * T * C + t * C;
      float m = 0.0f;
      for (int i = 0; i < C; i++)
        m += x[i];
      m = m / C;
      float v = 0.0f;
      for (int i = 0; i < C; i++) {
        float xshift = x[i] - m;
        v += xshift * xshift;
      }
      v = v / C;
      float s = 1.0f / sqrtf(v + eps);
      float *out_bt = out + b * T * C + t * C;
      for (int i = 0; i < C; i++) {
        float n = s * (x[i] - m);
        out_bt[i] = n * weight[i] + bias[i];
      }
      mean[b * T + t] = m;
      rstd[b * T + t] = s;
    }
  }
}

LOOP void layernorm_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp, const float *weight,
                             const float *mean, const float *rstd, int B, int T, int C) {
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      const float *dout_bt = dout + b * T * C + t * C;
      const float *inp_bt = inp + b * T * C + t * C;
      float *dinp_bt = dinp + b * T * C + t * C;
      float mean_bt = mean[b * T + t];
      float rstd_bt = rstd[b * T + t];
      float dnorm_mean = 0.0f, dnorm_norm_mean = 0.0f;
      for (int i = 0; i < C; i++) {
        float norm = (inp_bt[i] - mean_bt) * rstd_bt;
        float dnorm = weight[i] * dout_bt[i];
        dnorm_mean += dnorm;
        dnorm_norm_mean += dnorm * norm;
      }
      dnorm_mean = dnorm_mean / C;
      dnorm_norm_mean = dnorm_norm_mean / C;
      for (int i = 0; i < C; i++) {
        float norm = (inp_bt[i] - mean_bt) * rstd_bt;
        float dnorm = weight[i] * dout_bt[i];
        dbias[i] += dout_bt[i];
        dweight[i] += norm * dout_bt[i];
        float dval = 0.0f;
        dval += dnorm;
        dval -= dnorm_mean;
        dval -= norm * dnorm_norm_mean;
        dval *= rstd_bt;
        dinp_bt[i] += dval;
      }
    }
  }
}

/* Causal attention of all heads, from one array with queries, keys and values side by side. */
LOOP void attention_forward(float *out, float *preatt, float *att, const float *inp, int B, int T, int C, int NH) {
  int C3 = C * 3;
  int hs = C / NH;
  float scale = 1.0f / sqrtf(hs);
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      for (int h = 0; h < NH; h++) {
        const float *query_t = inp + b * T * C3 + t * C3 + h * hs;
        float *preatt_bth = preatt + b * NH * T * T + h * T * T + t * T;
        float *att_bth = att + b * NH * T * T + h * T * T + t * T;
        float maxval = -10000.0f;
        for (int t2 = 0; t2 <= t; t2++) {
          const float *key_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C;
          float val = 0.0f;
          for (int i = 0; i < hs; i++)
            val += query_t[i] * key_t2[i];
          val *= scale;
          if (val > maxval)
            maxval = val;
          preatt_bth[t2] = val;
        }
        float expsum = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
          float expv = expf(preatt_bth[t2] - maxval);
          expsum += expv;
          att_bth[t2] = expv;
        }
        float expsum_inv = expsum == 0.0f ? 0.0f : 1.0f / expsum;
        for (int t2 = 0; t2 < T; t2++) {
          if (t2 <= t)
            att_bth[t2] *= expsum_inv;
          else
            att_bth[t2] = 0.0f;
        }
        float *out_bth = out + b * T * C + t * C + h * hs;
        for (int i = 0; i < hs; i++)
          out_bth[i] = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
          const float *value_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C * 2;
          float att_btht2 = att_bth[t2];
          for (int i = 0; i < hs; i++)
            out_bth[i] += att_btht2 * value_t2[i];
        }
      }
    }
  }
}

LOOP void attention_backward(float *dinp, float *dpreatt, float *datt, const float *dout, const float *inp, const float *att, int B, int T, int C,
                             int NH) {
  int C3 = C * 3;
  int hs = C / NH;
  float scale = 1.0f / sqrtf(hs);
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      for (int h = 0; h < NH; h++) {
        const float *att_bth = att + b * NH * T * T + h * T * T + t * T;
        float *datt_bth = datt + b * NH * T * T + h * T * T + t * T;
        float *dpreatt_bth = dpreatt + b * NH * T * T + h * T * T + t * T;
        float *dquery_t = dinp + b * T * C3 + t * C3 + h * hs;
        const float *query_t = inp + b * T * C3 + t * C3 + h * hs;
        const float *dout_bth = dout + b * T * C + t * C + h * hs;
        for (int t2 = 0; t2 <= t; t2++) {
          const float *value_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C * 2;
          float *dvalue_t2 = dinp + b * T * C3 + t2 * C3 + h * hs + C * 2;
          for (int i = 0; i < hs; i++) {
            datt_bth[t2] += value_t2[i] * dout_bth[i];
            dvalue_t2[i] += att_bth[t2] * dout_bth[i];
          }
        }
        for (int t2 = 0; t2 <= t; t2++) {
          for (int t3 = 0; t3 <= t; t3++) {
            float indicator = t2 == t3 ? 1.0f : 0.0f;
            float local_derivative = att_bth[t2] * (indicator - att_bth[t3]);
            dpreatt_bth[t3] += local_derivative * datt_bth[t2];
          }
        }
        for (int t2 = 0; t2 <= t; t2++) {
          const float *key_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C;
          float *dkey_t2 = dinp + b * T * C3 + t2 * C3 + h * hs + C;
          for (int i = 0; i < hs; i++) {
            dquery_t[i] += key_t2[i] * dpreatt_bth[t2] * scale;
            dkey_t2[i] += query_t[i] * dpreatt_bth[t2] * scale;
          }
        }
      }
    }
  }
}

LOOP void gelu_backward(float *dinp, const float *inp, const float *dout, int N) {
  const float s = sqrtf(2.0f / (float)M_PI);
  for (int i = 0; i < N; i++) {
    float x = inp[i];
    float cube = 0.044715f * x * x * x;
    float tanh_arg = s * (x + cube);
    float tanh_out = tanhf(tanh_arg);
    float coshf_out = coshf(tanh_arg);
    float sech_out = 1.0f / (coshf_out * coshf_out);
    float local_grad = 0.5f * (1.0f + tanh_out) + x * 0.5f * sech_out * s * (1.0f + 3.0f * 0.044715f * x * x);
    dinp[i] += local_grad * dout[i];
  }
}

/* Probabilities of the next token; the vocabulary is padded. */
LOOP void softmax_padded(float *probs, const float *logits, int B, int T, int V, int Vp) {
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      const float *logits_bt = logits + b * T * Vp + t * Vp;
      float *probs_bt = probs + b * T * Vp + t * Vp;
      float maxval = -10000.0f;
      for (int i = 0; i < V; i++) {
        if (logits_bt[i] > maxval)
          maxval = logits_bt[i];
      }
      float sum = 0.0f;
      for (int i = 0; i < V; i++) {
        probs_bt[i] = expf(logits_bt[i] - maxval);
        sum += probs_bt[i];
      }
      for (int i = 0; i < V; i++)
        probs_bt[i] /= sum;
      for (int i = V; i < Vp; i++)
        probs_bt[i] = 0.0f;
    }
  }
}

LOOP void crossentropy_backward(float *dlogits, const float *dlosses, const float *probs, const int *targets, int B, int T, int V, int Vp) {
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      float *dlogits_bt = dlogits + b * T * Vp + t * Vp;
      const float *probs_bt = probs + b * T * Vp + t * Vp;
      float dloss = dlosses[b * T + t];
      int ix = targets[b * T + t];
      for (int i = 0; i < V; i++) {
        float p = probs_bt[i];
        float indicator = i == ix ? 1.0f : 0.0f;
        dlogits_bt[i] += (p - indicator) * dloss;
      }
    }
  }
}

/* Embeddings of tokens and places. */
LOOP void encoder_forward(float *out, const int *inp, const float *wte, const float *wpe, int B, int T, int C) {
  for (int b = 0; b < B; b++) {
    for (int t = 0; t < T; t++) {
      float *out_bt = out + b * T * C + t * C;
      int ix = inp[b * T + t];
      const float *wte_ix = wte + ix * C;
      const float *wpe_t = wpe + t * C;
      for (int i = 0; i < C; i++)
        out_bt[i] = wte_ix[i] + wpe_t[i];
    }
  }
}

typedef struct {
  float *params, *grads, *m, *v;
  size_t count;
} Optimizer;

LOOP void adamw(Optimizer *o, float learning_rate, float beta1, float beta2, float eps, float weight_decay, int t) {
  for (size_t i = 0; i < o->count; i++) {
    float param = o->params[i];
    float grad = o->grads[i];
    float m = beta1 * o->m[i] + (1.0f - beta1) * grad;
    float v = beta2 * o->v[i] + (1.0f - beta2) * grad * grad;
    float m_hat = m / (1.0f - powf(beta1, t));
    float v_hat = v / (1.0f - powf(beta2, t));
    o->m[i] = m;
    o->v[i] = v;
    o->params[i] -= learning_rate * (m_hat / (sqrtf(v_hat) + eps) + weight_decay * param);
  }
}

/* Rotary positions of a vector of queries and of keys. */
LOOP void rope(float *q, float *k, int pos, int dim, int kv_dim, int head_size) {
  for (int i = 0; i < dim; i += 2) {
    int head_dim = i % head_size;
    float freq = 1.0f / powf(10000.0f, head_dim / (float)head_size);
    float val = pos * freq;
    float fcr = cosf(val);
    float fci = sinf(val);
    int rotn = i < kv_dim ? 2 : 1;
    for (int v = 0; v < rotn; v++) {
      float *vec = v == 0 ? q : k;
      float v0 = vec[i];
      float v1 = vec[i + 1];
      vec[i] = v0 * fcr - v1 * fci;
      vec[i + 1] = v0 * fci + v1 * fcr;
    }
  }
}

/* A row of weights in eight bits, with a scale for each group. */
LOOP void quantized_matvec(float *xout, const signed char *xq, const float *xs, const signed char *wq, const float *ws, int n, int d, int group) {
  for (int i = 0; i < d; i++) {
    float val = 0.0f;
    int in = i * n;
    for (int j = 0; j <= n - group; j += group) {
      int ival = 0;
      for (int k = 0; k < group; k++)
        ival += (int)xq[j + k] * (int)wq[in + j + k];
      val += (float)ival * ws[(in + j) / group] * xs[j / group];
    }
    xout[i] = val;
  }
}

/* The most likely token of each row. */
LOOP void argmax_rows(int *best, const float *probs, int rows, int n) {
  for (int r = 0; r < rows; r++) {
    const float *p = probs + r * n;
    int max_i = 0;
    float max_p = p[0];
    for (int i = 1; i < n; i++) {
      if (p[i] > max_p) {
        max_i = i;
        max_p = p[i];
      }
    }
    best[r] = max_i;
  }
}

static float im2col_get_pixel(const float *im, int height, int width, int row, int col, int channel, int pad) {
  row -= pad;
  col -= pad;
  if (row < 0 || col < 0 || row >= height || col >= width)
    return 0;
  return im[col + width * (row + height * channel)];
}

/* Patches of an image as columns of a matrix. */
LOOP void im2col(const float *data_im, int channels, int height, int width, int ksize, int stride, int pad, float *data_col) {
  int height_col = (height + 2 * pad - ksize) / stride + 1;
  int width_col = (width + 2 * pad - ksize) / stride + 1;
  int channels_col = channels * ksize * ksize;
  for (int c = 0; c < channels_col; ++c) {
    int w_offset = c % ksize;
    int h_offset = (c / ksize) % ksize;
    int c_im = c / ksize / ksize;
    for (int h = 0; h < height_col; ++h) {
      for (int w = 0; w < width_col; ++w) {
        int im_row = h_offset + h * stride;
        int im_col = w_offset + w * stride;
        int col_index = (c * height_col + h) * width_col + w;
        data_col[col_index] = im2col_get_pixel(data_im, height, width, im_row, im_col, c_im, pad);
      }
    }
  }
}

/* Largest values of windows and their places. */
LOOP void maxpool(const float *input, float *output, int *indexes, int batch, int c, int h, int w, int size, int stride, int padding) {
  int out_h = (h + padding - size) / stride + 1;
  int out_w = (w + padding - size) / stride + 1;
  int w_offset = -padding / 2;
  int h_offset = -padding / 2;
  for (int b = 0; b < batch; ++b) {
    for (int k = 0; k < c; ++k) {
      for (int i = 0; i < out_h; ++i) {
        for (int j = 0; j < out_w; ++j) {
          int out_index = j + out_w * (i + out_h * (k + c * b));
          float max = -FLT_MAX;
          int max_i = -1;
          for (int n = 0; n < size; ++n) {
            for (int m = 0; m < size; ++m) {
              int cur_h = h_offset + i * stride + n;
              int cur_w = w_offset + j * stride + m;
              int index = cur_w + w * (cur_h + h * (k + b * c));
              int valid = cur_h >= 0 && cur_h < h && cur_w >= 0 && cur_w < w;
              float val = valid != 0 ? input[index] : -FLT_MAX;
              max_i = val > max ? index : max_i;
              max = val > max ? val : max;
            }
          }
          output[out_index] = max;
          indexes[out_index] = max_i;
        }
      }
    }
  }
}

/* Mean and variance of each filter, then every value normalised. */
LOOP void batchnorm(float *x, float *mean, float *variance, int batch, int filters, int spatial) {
  float scale = 1.f / (batch * spatial);
  for (int i = 0; i < filters; ++i) {
    mean[i] = 0;
    for (int j = 0; j < batch; ++j) {
      for (int k = 0; k < spatial; ++k) {
        int index = j * filters * spatial + i * spatial + k;
        mean[i] += x[index];
      }
    }
    mean[i] *= scale;
  }
  float scale1 = 1.f / (batch * spatial - 1);
  for (int i = 0; i < filters; ++i) {
    variance[i] = 0;
    for (int j = 0; j < batch; ++j) {
      for (int k = 0; k < spatial; ++k) {
        int index = j * filters * spatial + i * spatial + k;
        variance[i] += powf(x[index] - mean[i], 2);
      }
    }
    variance[i] *= scale1;
  }
  for (int b = 0; b < batch; ++b) {
    for (int f = 0; f < filters; ++f) {
      for (int i = 0; i < spatial; ++i) {
        int index = b * filters * spatial + f * spatial + i;
        x[index] = (x[index] - mean[f]) / (sqrtf(variance[f]) + .000001f);
      }
    }
  }
}

LOOP void upsample(const float *in, int w, int h, int c, int batch, int stride, float scale, float *out) {
  for (int b = 0; b < batch; ++b)
    for (int k = 0; k < c; ++k)
      for (int j = 0; j < h * stride; ++j)
        for (int i = 0; i < w * stride; ++i) {
          int in_index = b * w * h * c + k * w * h + (j / stride) * w + i / stride;
          int out_index = b * w * h * c * stride * stride + k * w * h * stride * stride + j * w * stride + i;
          out[out_index] = scale * in[in_index];
        }
}

/* A convolution with stride and padding, as it is written without a matrix product. */
LOOP void convolution(const float *in, const float *weights, const float *bias, float *out, int ic, int oc, int h, int w, int k, int s, int p) {
  int oh = (h + 2 * p - k) / s + 1, ow = (w + 2 * p - k) / s + 1;
  for (int o = 0; o < oc; o++)
    for (int y = 0; y < oh; y++)
      for (int x = 0; x < ow; x++) {
        float sum = bias[o];
        for (int c = 0; c < ic; c++)
          for (int ky = 0; ky < k; ky++)
            for (int kx = 0; kx < k; kx++) {
              int iy = y * s + ky - p, ix = x * s + kx - p;
              if (iy < 0 || iy >= h || ix < 0 || ix >= w)
                continue;
              sum += in[(c * h + iy) * w + ix] * weights[((o * ic + c) * k + ky) * k + kx];
            }
        out[(o * oh + y) * ow + x] = sum > 0 ? sum : 0.1f * sum;
      }
}

int main(void) {
  int B = 2, T = 24, C = 48, OC = 64, NH = 4, V = 90, Vp = 96, R = B * T;
  float *inp = floats(R * C), *weight = floats(OC * C), *bias = floats(OC), *out = floats(R * OC), *dinp = floats(R * C),
        *dweight = floats(OC * C), *dbias = floats(OC);
  matmul_rows(out, inp, weight, bias, B, T, C, OC);
  SHOW(matmul_rows, out, R * OC);
  matmul_backward(dinp, dweight, dbias, out, inp, weight, B, T, C, OC);
  SHOW(matmul_backward, dweight, OC * C);
  float *mean = floats(R), *rstd = floats(R), *normed = floats(R * C);
  layernorm_forward(normed, mean, rstd, inp, weight, bias, B, T, C);
  SHOW(layernorm_forward, normed, R * C);
  layernorm_backward(dinp, dweight, dbias, normed, inp, weight, mean, rstd, B, T, C);
  SHOW(layernorm_backward, dinp, R * C);
  float *qkv = floats(3 * R * C), *preatt = floats(B * NH * T * T), *att = floats(B * NH * T * T), *o = floats(R * C);
  attention_forward(o, preatt, att, qkv, B, T, C, NH);
  SHOW(attention_forward, o, R * C);
  float *dqkv = floats(3 * R * C), *dpre = floats(B * NH * T * T), *datt = floats(B * NH * T * T);
  attention_backward(dqkv, dpre, datt, o, qkv, att, B, T, C, NH);
  SHOW(attention_backward, dqkv, 3 * R * C);
  gelu_backward(dinp, inp, normed, R * C);
  SHOW(gelu_backward, dinp, R * C);
  float *logits = floats(R * Vp), *probs = floats(R * Vp), *losses = floats(R);
  int *targets = integers(R, V), *tokens = integers(R, V);
  softmax_padded(probs, logits, B, T, V, Vp);
  SHOW(softmax_padded, probs, R * Vp);
  crossentropy_backward(logits, losses, probs, targets, B, T, V, Vp);
  SHOW(crossentropy_backward, logits, R * Vp);
  float *wte = floats(V * C), *wpe = floats(T * C);
  encoder_forward(o, tokens, wte, wpe, B, T, C);
  SHOW(encoder_forward, o, R * C);
  Optimizer optimizer = {floats(3000), floats(3000), floats(3000), floats(3000), 3000};
  for (int i = 0; i < 3000; i++)
    optimizer.v[i] = fabsf(optimizer.v[i]);
  adamw(&optimizer, 1e-3f, 0.9f, 0.999f, 1e-8f, 0.1f, 3);
  SHOW(adamw, optimizer.params, 3000);
  float *q = floats(256), *k = floats(256);
  rope(q, k, 17, 256, 128, 32);
  SHOW(rope, q, 256);
  signed char *xq = (signed char *)bytes(128), *wq = (signed char *)bytes(128 * 90);
  quantized_matvec(out, xq, weight, wq, inp, 128, 90, 32);
  SHOW(quantized_matvec, out, 90);
  int *best = integers(R, V);
  argmax_rows(best, probs, R, Vp);
  SHOW(argmax_rows, best, R);
  int ch = 5, h = 21, w = 26, ks = 3;
  float *image = floats(2 * ch * h * w), *columns = floats(ch * ks * ks * h * w);
  im2col(image, ch, h, w, ks, 1, 1, columns);
  SHOW(im2col, columns, ch * ks * ks * h * w);
  float *pooled = floats(2 * ch * h * w);
  int *places = integers(2 * ch * h * w, 9);
  maxpool(image, pooled, places, 2, ch, h, w, 2, 2, 1);
  SHOW(maxpool, pooled, 2 * ch * 11 * 13);
  float *m = floats(ch), *var = floats(ch);
  batchnorm(image, m, var, 2, ch, h * w);
  SHOW(batchnorm, image, 2 * ch * h * w);
  float *large = floats(2 * ch * h * w * 4);
  upsample(image, w, h, ch, 2, 2, 0.7f, large);
  SHOW(upsample, large, 2 * ch * h * w * 4);
  float *filters = floats(7 * ch * 9);
  convolution(image, filters, bias, pooled, ch, 7, h, w, 3, 2, 1);
  SHOW(convolution, pooled, 7 * 11 * 13);
  return 0;
}
