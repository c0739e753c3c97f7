# A transformer with random weights, compiled: transformer.py COUNT
import sys, torch
from transformers import BertConfig, BertModel
torch.manual_seed(1)
model = BertModel(BertConfig(hidden_size=512, num_hidden_layers=2, num_attention_heads=8, intermediate_size=2048)).cuda().eval()
words = torch.randint(0, 30000, (8, 256), device="cuda")
compiled = torch.compile(model)
with torch.no_grad():
    for _ in range(int(sys.argv[1])):
        out = compiled(words).last_hidden_state
torch.cuda.synchronize()
print("sum %.6f" % out.double().sum().item())
