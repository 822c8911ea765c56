"""Questions with something odd in them, thought of one by one."""

SPACES = ["\t", "\n", "\x0b", "\x0c", "\r", "\x1c", "\x1f", "\x85", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f",
          "\u205f", "\u3000"]
NOT_SPACES = ["\u200b", "\u2060", "\ufeff", "\u180e", "\x00", "\x7f"]

VERSIONS = [
    "", " ", ".", "1", "1.", ".1", "1..2", "v", "V1", "vv1", "v 1", "1!", "!1", "1!2!3", "0!1", "00!01", "1!v2",
    "1.0a", "1.0a-", "1.0a-1", "1.0a--1", "1.0a.-1", "1.0-a", "1.0--a", "1.0_a_1", "1.0.a.1", "1.0a.post1", "1.0a-post-1",
    "1.0a-.post1", "1.0alpha", "1.0ALPHA1", "1.0alph", "1.0beta2", "1.0c3", "1.0rc", "1.0RC-1", "1.0pre", "1.0preview9",
    "1.0previe", "1.0ab", "1.0a1b1", "1.0-1", "1.0-", "1.0-01", "1.0--1", "1.0-1-1", "1.0-1.post2", "1.0.post", "1.0post-",
    "1.0post--1", "1.0r4", "1.0-r4", "1.0rev4", "1.0.rev.4", "1.0-rev-4", "1.0r", "1.0.dev", "1.0dev-", "1.0-dev_1",
    "1.0dev1a1", "1.0a1.dev2.post3", "1.0a1.post2.dev3", "1.0.dev1.post1", "1.0post1dev2", "1.0a1-2.dev3",
    "1.0+", "1.0+a", "1.0+A.B", "1.0+a..b", "1.0+a.", "1.0+.a", "1.0+a-b_c.d", "1.0+001", "1.0+00a", "1.0+0", "1.0+1.a+2",
    "1.0+é", "1.0é", "1.0+a b", "1 .0", "1. 0", "1.0 a1", "1.0rc1+ubuntu.01", "1.0.0.0", "0", "0.0", "00", "1.00.0",
    "１.0", "1.٣", "1.0poſt1", "1.0prevıew", "1.0K", "1.0-²", "1e3", "0x10", "1_0", "1,0", "-1", "+1", "1.-1", "1.0*", "1.*",
    "1.0.*", "latest", "nightly", "2.2.2+cu121", "9" * 18, "9" * 19, "1" + "0" * 18, "0" * 30 + "7", str(2**63), str(2**64),
    "1." + "9" * 100, "1.0rc" + "9" * 19, "1.0.post" + "8" * 40, "1.0.dev" + "7" * 40, "8" * 20 + "!1", "1+" + "5" * 50,
    "9" * 4300, "9" * 4301, "0" * 4301, "1.0+" + "9" * 4301, "1.0+" + "9" * 4301 + "a",
] + [c + "1.0" + c for c in SPACES + NOT_SPACES] + [f"1.{c}0" for c in SPACES]

ORDER = [
    "0", "0.0", "0.dev0", "0!0", "1", "1.0", "1.0.0", "1.0.1", "1.0.dev1", "1.dev1", "1a0", "1a", "1a1", "1.0a1.dev1",
    "1a1.post1", "1a1.post1.dev1", "1b1", "1rc1", "1rc18446744073709551616", "1.post0", "1.post1.dev0", "1.post1", "1-1",
    "1+a", "1+b", "1+1", "1+a.1", "1+1.a", "1+01", "1+10", "1+2", "1+a.b", "1+A", "1!0", "1.10", "1.9", "999999999999999999",
    "1000000000000000000", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1.18446744073709551616",
    "1.18446744073709551616.0", "1.18446744073709551616.1", "1.18446744073709551617", "1+18446744073709551616",
]

SPECS = [
    "", ",", ", ,", ">=1", ">= 1", ">=1,", ",>=1", ">=1,,<2", ">=1 <2", ">=", "1", "=1", "=>1", "==1.*", "==1.0.*", "==1.*.0",
    "==1.0a1.*", "==1.0.dev1.*", "==1.0.post1.*", "==1+a.*", "==v1.*", "==1!1.*", "==1 .*", "==1. *", "==*", "!=1.*", ">=1.*",
    "~=1", "~=1.0", "~=1.0.0", "~=1.0.*", "~=1.0a1", "~=1!2.0", "~=1.0+a", "~=1.0.post1", "<1", "<1.dev0", "<1a1", "<1.0.post1",
    "<0", "<0.dev0", ">1", ">1.post1", ">1.dev1", ">1a1", ">1a1.post1", ">1a1.dev1", "<=1", ">=1+a", "<=1+a", "==1+a", "!=1+a",
    "==1", "!=1", "==1.0.0", "==1-1", "==1.0-post1", "===1", "===1.0", "=== 1.0", "===", "=== ", "===1.0,===1.0", "===a b",
    "===a;b", "===a)", "====1", "===É", "===ΑΣ", "===1.0+A", "===1.0.DEV1", ">=1,===1.0", ">=1\n", ">=\n1", ">=\u30001", "\u3000>=1",
    ">=1\u200b", ">=１", "~=1.0,>=1,~=1.0.0,~=1.00", "==1,==1.0,==01", "<2,<2.0,!=2", "==1.18446744073709551616.*",
    ">=" + "9" * 4301, "==1." + "9" * 4301 + ".*", "~=1.0poſt1", "~=1.0prevıew1", "~=1.0PREVİEW1", ">=1.0poſt1", "~=1.0poßt1",
    "~=1.18446744073709551616.1", ">=18446744073709551616",
]

ITEMS = ["1", "1.0", "1.0.0", "1.0.1", "1a1", "1.dev1", "1.0a1.post1", "1.post1", "1.post2.dev1", "1+a", "1+b", "1.0+A", "2", "0.9",
         "0", "0.dev0", "1!1", "1.1", "1.0a2", "1.0.dev2", "1.0.DEV1", " 1.0 ", "É", "é", "ας", "ΑΣ", "ασ", "", "a,b", "x",
         "1.18446744073709551616.3", "18446744073709551617", "1.18446744073709551617", "9" * 4301]

REQUIREMENTS = [
    "", " ", "x", " x ", "\tx", "\nx", "x\n", "X_y.z-1", "x_", "x.", "x-", "_x", ".x", "é", "xé", "x é", "1", "1x", "x y",
    "x[]", "x[ ]", "x[,]", "x[a]", "x[a,]", "x[,a]", "x[a,b]", "x[b,a,b]", "x[a b]", "x[a", "x]", "x[a]]", "x [ a , b ] ", "x[a][b]",
    "x[a_]", "x[a-]", "x[é]", "x[A,a]", "x[a\n]", "x()", "x( )", "x(", "x)", "x(>=1)", "x (>=1,<2)", "x(>=1", "x>=1)", "x(>=1),<2",
    "x(1)", "x((>=1))", "x>=1", "x >= 1 , < 2", "x>=1,", "x>=1,,<2", "x,>=1", "x>=1 <2", "x>=1;", "x;", "x ; ", "x==1.*", "x==1.0a1.*",
    "x>=1.*", "x>=1+a", "x==1+A", "x~=1", "x=1", "x=>1", "x===a,b", "x===a,>=1", "x===a, ,>=1", "x===a, >=1", "x===,>=1", "x===a;os_name=='a'",
    "x(===a)", "x===a b", "x===é", "x>=\n1", "x>=1\n", "x>=1\n,<2", "x>=\u30001", "x\u3000>=1", "x>=1,\n<2", "x==1-1", "x==1 -1",
    "x@", "x @ ", "x@u", "x @ u", "x @u v", "x@u;os_name=='a'", "x@u ;os_name=='a'", "x@u ; os_name=='a'", "x@;", "x @ ; y", "x@u\n",
    "x@u\u3000;os_name=='a'", "x[a]@u", "x(>=1)@u", "x@u(>=1)", "x@a b", "x @ file:///a%20b ", "x@é", "x>=1 @ u", "x@u\t", "@u",
    "x;os_name=='a'", "x;os_name=='a' ", "x;os_name=='a'\n", "x;os_name=='a';", "x;(os_name=='a')", "x;((os_name=='a'))",
    "x;(os_name=='a' or os_name=='b') and os_name=='c'", "x;((os_name=='a' or os_name=='b')) and ((os_name=='c'))",
    "x;((os_name=='a' and os_name=='b'))", "x;os_name=='a'and os_name=='b'", "x;os_name=='a'or(os_name=='b')",
    "x;os_name=='a' andos_name=='b'", "x;os_name=='a' and", "x;and os_name=='a'", "x;os_name", "x;os_name==", "x;=='a'", "x;'a'",
    "x;os_name=='a\"'", "x;os_name==\"a'\"", "x;os_name=='a\\'", "x;os_name=='\\x22\\x27'", "x;'\\x22\\x27'==os_name", "x;os_name=='a'and('\\x22\\x27'==os_name or os_name=='b')",
    "x;os_name=='\\x41\nb'", "x;os_name=='\\x41\rb'", "x;os_name=='a\nb'", "x;os_name=='a\\\nb'",
    "x;os_name=='a\rb'", "x;os_name=='a\\\r\nb'", "x;os_name=='\\ud800'", "x;os_name=='\\U00110000'", "x;os_name=='\\777'",
    "x;os_name=='\\0'", "x;os_name=='\x00'", "x;os_name=='\\q'", "x;os_name==u'a'", "x;os_name==''", "x;''==os_name", "x;os_name=='é'",
    "x;extra=='A_b.C'", "x;'A_b'==extra", "x;'A_b' in extras", "x;extras=='A_b'", "x;'A_b'=='extra'", "x;extra=='É_Σ'",
    "x;python_version in '2.7 3.8'", "x;'a' not in os_name", "x;'a' not\tin os_name", "x;'a' notin os_name", "x;'a' not os_name",
    "x;'a' in'b'", "x;'a'in os_name", "x;os_name in'b'", "x;os.name=='a'", "x;os. name=='a'", "x;platform.release=='a'",
    "x;python_implementation=='a'", "x;platform.python_implementation=='a'", "x;platform_python_implementation=='a'", "x;os_names=='a'",
    "x;os_name.x=='a'", "x;os_nameé=='a'", "x;python_version>='3'é", "x;os_name===='a'", "x;os_name=>'a'", "x;os_name<>'a'",
    "x;" + "(" * 300 + "os_name=='a'" + ")" * 300, "x;" + "(" * 600 + "os_name=='a'" + ")" * 600, "x;(os_name=='a'", "x;os_name=='a')",
    "x>=1.0." + "9" * 4301, "x>=1," + "<" + "9" * 4301, "x~=1.0poſt1", "x~=1.0poſt1,>1", "x==1.0poſt1",
    "-e .", "./x", "https://x.org/x.whl", "x # comment", "x==1 --hash=sha256:0", "x" * 1000, "x\x00", "x @ u\x00", "x===\x00",
]

ENV = {"implementation_name": "cpython", "implementation_version": "3.11.7", "os_name": "posix", "platform_machine": "x86_64",
       "platform_python_implementation": "CPython", "platform_release": "6.1.0-18-amd64", "platform_system": "Linux",
       "platform_version": "#1 SMP", "python_full_version": "3.11.7", "python_version": "3.11", "sys_platform": "linux",
       "extra": "A_b", "extras": ["C.d", "e"], "dependency_groups": []}

MARKERS = [
    "", "os_name", "python_version > '3.9'", "python_version >= '3.11'", "python_version < '3.2'", "'3.9' < python_version",
    "'3.9' >= python_version", "python_version == '3.11.*'", "python_version ~= '3.1'", "python_version ~= '3'", "python_version === '3.11'",
    "python_version === '3.11.0'", "python_version in '3.11 3.12'", "python_version not in '3.1'", "'3.1' in python_version",
    "python_version == '3.11 '", "python_version == ' 3.11'", "python_version < '=3.11'", "python_version == '=3.11'", "python_version == 'x'",
    "python_version >= 'x'", "python_version > 'x'", "python_version ~= 'x'", "python_version === 'x'", "python_version == '3.11;'",
    "python_full_version < '3.11.8'", "python_full_version >= '3.11.7+local'", "implementation_version == '3.11.7.0'",
    "platform_release >= '6'", "platform_release == '6.1.0-18-amd64'", "platform_release === '6.1.0-18-AMD64'", "platform_version == '#1 SMP'",
    "platform_version ~= '1'", "os_name ~= 'posix'", "os_name === 'posix'", "os_name < 'q'", "os_name <= 'posix'", "os_name >= 'a'",
    "os_name == sys_platform", "os_name == python_version", "'posix' == 'os_name'", "'3.1' < 'python_version'", "'a' == 'b'",
    "extra == 'a.B'", "'a-b' == extra", "extra != 'x'", "extra in 'a-b c'", "'a' in extra", "extra == extras", "'c_D' in extras",
    "'x' in extras", "'x' not in extras", "extras == 'e'", "'e' == extras", "'e' != extras", "'e' <= extras", "'e' < extras", "'e' ~= extras",
    "'e' === extras", "'g' in dependency_groups", "dependency_groups in 'g'", "nothing == 'a'", "os_name == 'a' or python_version > '3'",
    "os_name == 'a' and python_version > '3' or sys_platform == 'linux'", "sys_platform == 'linux' or os_name == 'a' and os_name == 'b'",
    "(sys_platform == 'linux' or os_name == 'a') and os_name == 'b'", "os_name == 'posix' or missing == 'x'", "os_name == '\\x70osix'",
    "python_version < '" + "9" * 4301 + "'", "'" + "9" * 4301 + "' < python_version", "python_version == '" + "9" * 4301 + ".*'",
    "os_name == 'pos\\\nix'", " os_name=='posix'\t", "\nos_name=='posix'", "os_name=='posix'\n",
]

WHEELS = [
    "", ".whl", "x.whl", "x-1.whl", "x-1-py3-none-any.whl", "x-1-py3-none-any.WHL", "x-1-py3-none-any.whl ", "x-1-py3-none-any.zip",
    "x-1-1-py3-none-any.whl", "x-1-01a-py3-none-any.whl", "x-1-a1-py3-none-any.whl", "x-1--py3-none-any.whl", "x-1-1-1-py3-none-any.whl",
    "x-1-1\n2-py3-none-any.whl", "x-1-1é-py3-none-any.whl", "x-1-１-py3-none-any.whl", "-1-py3-none-any.whl", "x--py3-none-any.whl",
    "x_y-1-py3-none-any.whl", "x__y-1-py3-none-any.whl", "x.y-1-py3-none-any.whl", "X.Y_z-1-py3-none-any.whl", "x+y-1-py3-none-any.whl",
    "x y-1-py3-none-any.whl", "é-1-py3-none-any.whl", "İ-1-py3-none-any.whl", "ΑΣ-1-py3-none-any.whl", "²-1-py3-none-any.whl",
    "\u0301-1-py3-none-any.whl", "😀-1-py3-none-any.whl", "_-1-py3-none-any.whl", "x-1.0rc1+cu121-cp311-cp311-linux_x86_64.whl",
    "x-v1-py3-none-any.whl", "x- 1 -py3-none-any.whl", "x-1x-py3-none-any.whl", "x-1!2-py3-none-any.whl", "x-1-py2.py3-none-any.whl",
    "x-1-py3.py2-none-any.whl", "x-1-py3.py3-none-any.whl", "x-1-py3.-none-any.whl", "x-1-.py3-none-any.whl", "x-1-py3..py2-none-any.whl",
    "x-1-py3--any.whl", "x-1-3-none-any.whl", "x-1-p y-none-any.whl", "x-1-PY3-NONE-ANY.whl", "x-1-été-none-any.whl", "x-1-py3-é-😀.whl",
    "x-1-py\u00b2-none-any.whl", "x-1-\u2118-none-any.whl", "x-1-py3-none-any.whl.whl", "x-1-cp311-abi3.none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "x-1-cp313t-cp313t-linux_x86_64.whl", "x-1-1-py3-none-any\x00.whl", "/x-1-py3-none-any.whl", "x-1-py3-none-any/.whl",
    "x-1-" + "0" * 4301 + "-py3-none-any.whl", "x-1-" + "0" * 4300 + "-py3-none-any.whl",
]


def lines():
    found = [{"op": "version", "s": s} for s in VERSIONS]
    found += [{"op": "cmp", "a": a, "b": b} for a in ORDER for b in ORDER]
    found += [{"op": "match", "spec": s, "v": v, "pre": pre} for s in SPECS for v in ITEMS for pre in (None, True, False)]
    found += [{"op": "req", "s": s} for s in REQUIREMENTS]
    for s in MARKERS:
        for change in ({}, {"python_full_version": "3.11.7+", "python_version": "x"}, {"extras": "C.d e", "extra": ""},
                       {"os_name": ["posix", "A_b"], "extra": None},
                       {"platform_release": "x", "os_name": "POSIX", "python_version": "3.11.0a1"}):
            found.append({"op": "marker", "s": s, "env": {**ENV, **change}})
        found.append({"op": "marker", "s": s, "env": {}})
        found.append({"op": "marker", "s": s, "env": {k: v for k, v in ENV.items() if k != "python_version"}})
    found += [{"op": "tags", "file": f} for f in WHEELS]
    return found
