# JAX: jitted.py COUNT
import sys, jax, jax.numpy as jnp

@jax.jit
def f(x):
    return jnp.tanh(x * 2 + 1).sum(axis=1)

x = jnp.arange(4194304.0).reshape(2048, 2048) / 4194304
for _ in range(int(sys.argv[1])):
    y = f(x)
y.block_until_ready()
print("sum %.6f" % float(y.sum()))
