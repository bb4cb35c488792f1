"""Profiles that an earlier version stored are read: the names in the bytes do not change with those of classes and fields."""

import base64

import numpy as np
import pytest

from normstat.profiles.profile_codec import METHOD, unpack_profile

# The body of a stored profile, as normstat wrote it before Knowledge was called WindowModel and Traits SeriesStats.
STORED = base64.b85decode(
    "ZgX%k0{{lj000000001j0000000007+6n*w000008U_FW000001z7+9000000A>IH000000CQz>X=QV8a&Km7Y-MI)V{~&`HEH@NwJ-"
    "f7&aDFg0*4nIpr<+iNC~vr-(oisq5-2s*2V?SicFm8U(bFS7y#gT?;Sz;U<o(*L>be&{JAC)Mh!_X=Y|@R3Wr+5%lS>7Ra)A-"
    "_T`GU_CT%82gLKO&3AcL%aqaD#+^aLMF#+Y9ypMGK8WDVwAutq)*#v$1)*(9>L|4@{bbq+WiS9rS<DkeU}$j;?km2qhF-QB*)m!xxi^kM_<uwdPYKkh5!IuM"
    "b*hA`es}O~Ej&mpK%qz0s)dF!i7zUuM04iPzbk9jf{S$uFaaC^9|2G{lFj+n8aiD{qe@j;iFdwLm;QPn$f1oC{(8NiCd(N_B9XYJP^AW1@5f`+Ag}chtg-"
    "e|D%H29J)jQNXGNAoVo+_{)rKxrgFyBJtMjQDXugz3MV3!a9BgFkTYom#RhRRT<&zW5MzT2;sTFIr)2Th-&qsnB%CM0vuig37-"
    "r8HMQcadbBCoyT1<8^)qgJNCnofmjt+%%923iiNw(M_h(=~^x<F&d~SktLmRrPDzUk$P(&H(;eT;h_fX|=buzSIiG8vFs(V9v*3mGY588+jE>tE#M2{CGmLB"
    "ocEu)Ev9gYVh!>R6!M(W7i!k+pfD+mr}80Nt}U8l7p5aW!T88G#E_Dp^faRIn>??a%dyjc1?pVIkb^#Z`HpbikAI}Acy|~5(P~gw|Ru3lree;9W61C&1PlPE"
    "J0EM0gVvhiSt!O2@IJXAUNOv48kooc?uyVXaHemp^QQUW=q$VC{2c3+4yi_02Zyq0WcZ6U}ASfN*6J0!sg)NbKID7{aF9j`}f{_^Z&;fYrVPFd}}VgIseB^8"
    "1LWD`PTR!$MF$kjgNcxz7NjMZnKNH;~zEWo9j&oEA1jUuKnUD?c(0`L+N+5`>yMDxBow`VXfV+b$9iyyS@M8jj{Xg_wMT2f9F_Ztntou`+s-"
    "co%>zC*1fxZ=VFZA-t|7hTW@V`p*bsJ@HFKqO@tM;<59r_o}`-"
    "vEfZ5)P!#?8`r5AR=9~pcumO^F_`yPv(UARr&UvXeg7eJz_x?m;2B&*;2yx?vK#?K{{`J?mi5Oh8%$AsvPW;h778cg~zNZmI(KlxlEN8AIYnH2kiZ(5@9OC>"
    "n)*EZhb?2{Z+O6$$*C>h(d+@-"
    "TW8F{lm;Pm8Ut92~X`26^Q4~GT)BK#9IM=c_4u`{`N1lbNNKxaOz7O9x{%eXdGL|L%(ayVzxTeiF=X`Je|6`hC&0q8Vk2QY${Pq6*eDCgx@i(rPm>74{M~uJ"
    "!KgJWoI{q}c)+4=J@B1|k^|W{Mz$CBrbfgp?&9^^(j`*fnMvKaP>yYXW><{C94UN&b=fIInh@})<hA$XchT0z%Q=7%q&bM2W12cO{=uYX#=xL@&V|?E?qo`?"
    "oZ#kpp`@UdJN=ZpbM}&@IYq&Ph4Efe!%$S`418<t2q0n$K8jVUyN@2V+y+F_N^wPzPomYtqFCm)q91p~+nV=Fke&>0fC~A6%!I+1k0t5)>oYNlgG)ge$Hyn("
    "Oan5-V1+N1E<Nig#h7G;<&ct?f36f&5SR_IuE34>)NwHWgc5$6C)1*mOmXIK20{#C30Pvge&nN2te`!aaMmz-"
    "`FtS5(#{U0}7?B$CzzF~UGB{*K=`W@VUrH%c%FqEaFB<WvFwBf6s$|KMK}dSUq%5F0mjpWCKwyILarM4n&nV1u{2k}p4JkpF-ml%q!ovFh|3A$)rSk2TZ?}B"
    "AQK$gtspRwj5B^2$sKCUCp(jstl(8jxlHJK92Bk0o!>g-nKmaRU!X8GK3_F(8%x0&P)A_F-"
    "^EPp~co7*vwdiSUuYdgi6BhjJg_Cutv6y0rA%h5!1QN(d5KYnnpn?%9A`cSa0HPd&8G#{;86qWtR80z#_6_AVb@Wl`SE0Wu{qW%rE20W&cHzD32h(D9tb!iK"
    "yT61RA=dAc`oT#E%I{y&N~Gso8acwkQoJ1yhbknV94l|7@#6R&2B*GNIO-D9hn<%6EJIf;0xp!ah>wTJXFoBB2x-2-"
    "ZfAfJZF$KZS`&<zc+BdISGWh|PvrU_*B)!5r2zmG=LVv(3?7qeId@<gyraJSPR=W^buWxqM)`K@p6r+D_-"
    "D6Y(v~~%7ss%3(&rtya|!gP?dxI%471Y{Y)3iap^;mY#sPyMG;++9oc2Mk{4fz9X}S-MI@{BGnaxj2)Y7Ngy6xvEwJ-"
    "f7S;+zbRR910dm=_*V{~&OI(s5+Uvpt?aBO9BB04lUFf1ZtZ+2yJWn^D-"
    "B04cPFfK4GB5q%7WoC3=Z*_DcIxs9EWMO%8B03^5G9Y(va%*XBXCP!@d2=FteLIVohy"
)


def test_a_profile_of_an_earlier_version_is_read() -> None:
    body = unpack_profile(STORED)
    assert [(stat.stat, stat.fields) for stat in body.stats] == [("vmstat_linux", ("cpu_us", "cpu_sy", "cpu_wa"))]
    assert (body.facts.n_samples, body.facts.days) == (480, "12 working days")
    profile = body.profile
    assert profile.series_stats.level.tolist() == [52.5, 20.8, 5.2]
    assert profile.baseline.n.tolist() == [160, 160, 160]
    [model] = profile.window_models
    np.testing.assert_allclose(model.natural_change.change[0], [20.648588, 8.248791, 2.0841732])
    assert profile.load_model is not None
    assert profile.load_model.reach.tolist() == pytest.approx([2.7928271])


def test_stored_rows_have_the_number_of_the_method() -> None:
    # Another number makes every profile stale: they are built again. Renames do not change it.
    assert METHOD == 31030
