#!/bin/bash
# Kernels of C++ have names that nobody types: they are found and told by what people call them, and sessions keep them whole.
. tests/tool/tap.sh
python3 - "$T" <<'PY'
import sys
long = "_ZN3app" + "".join("%d%s" % (len(s), s) for s in ("deep%d_%s" % (i, "x" * 40) for i in range(6))) + "4tail"
kernels = {"_Z5scaleIfEvPT_S0_i": "f32", "_Z5scaleIdEvPT_S0_i": "f64", "_ZN3app9vectorAddEPfi": "f32", long + "EPfi": "f32", long + "EPdi": "f64"}
text = ".version 8.0\n.target sm_80\n.address_size 64\n"
for k, t in kernels.items():
    text += """.visible .entry %(k)s(.param .u64 %(k)s_param_0, .param .u32 %(k)s_param_1)
{
	.reg .b64 %%d<5>; .reg .b32 %%r<6>; .reg .%(t)s %%v<3>; .reg .pred %%p<2>;
	ld.param.u64 %%d1, [%(k)s_param_0];
	ld.param.u32 %%r1, [%(k)s_param_1];
	mov.u32 %%r2, %%ctaid.x;
	mov.u32 %%r3, %%ntid.x;
	mov.u32 %%r4, %%tid.x;
	mad.lo.s32 %%r5, %%r2, %%r3, %%r4;
	setp.ge.s32 %%p1, %%r5, %%r1;
	@%%p1 bra out;
	mul.wide.s32 %%d2, %%r5, %(w)d;
	add.s64 %%d3, %%d1, %%d2;
	ld.global.%(t)s %%v1, [%%d3];
	add.%(t)s %%v2, %%v1, %%v1;
	st.global.%(t)s [%%d3], %%v2;
out:
	ret;
}
""" % {"k": k, "t": t, "w": 4 if t == "f32" else 8}
open(sys.argv[1] + "/k.ptx", "w").write(text)
PY
P=$T/k.ptx
code "a part of a name that two have" 1 "more than one kernel is called 'scale'" "$B" analyze "$P" --kernel scale
code "both are named" 1 "_Z5scaleIfEvPT_S0_i.*_Z5scaleIdEvPT_S0_i" "$B" analyze "$P" --kernel scale
code "a name that none has" 1 "there is 'scale<float>', 'scale<double>', 'app::vectorAdd'" "$B" analyze "$P" --kernel scales
has "analyze, by the short name" "^kernel app::vectorAdd " "$("$B" analyze "$P" --kernel vectorAdd)"
has "an array without the kernel's name" "address +param_0 \+ 8\*" "$("$B" analyze "$P" --kernel "scale<double>")"
"$B" launch "$P" -o "$T/k.launch.json" 2> "$T/said"
has "launches are called as people do" "scale<double>: grid .*param_0 f64" "$(cat "$T/said")"
is "and have names of their own" "$(python3 -c "
import json; print(len({l['name'] for l in json.load(open('$T/k.launch.json'))['launches']}))")" 5
has "run" "^scale<double> on " "$("$B" run "$P" --kernel "scale<double>")"
doc "documents have the compiler's name" "d['kernel'] == '_Z5scaleIdEvPT_S0_i'" "$B" run "$P" --kernel "scale<double>" --json
for t in d f; do
    "$B" sweep "$P" --kernel "4tailEP${t}i" -o "$T/s$t.json" > /dev/null 2>&1
    is "a session has a long name whole ($t)" "$(python3 -c "
import json; print({r['kernel'][-9:] for r in json.load(open('$T/s$t.json'))['runs']})")" "{'4tailEP${t}i'}"
done
exit $bad
