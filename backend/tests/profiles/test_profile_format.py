"""Profiles that an earlier version stored are read: the names in the bytes do not change with those of classes and fields."""

import base64

import numpy as np
import pytest

from normstat.profiles.profile_codec import METHOD, unpack_profile

# The body of a stored profile, as normstat wrote it before Knowledge was called WindowModel and Traits SeriesStats.
STORED = base64.b85decode(
    "ZgX%k0{{lj000000001j0000000007YzhDX00000`2_#~000001z7+9000000A>IH000000CQz>X=QV8a&Km7Y-MI)V{~&FS>{nFwJ-f7&aDFg0*4nIpr<+i"
    "NC~vr-(oisq5-2s*2V?SicFm8U(bFS7y#gT?;Sz;U<o(*L>be&{JAC)Mh!_X=Y|@R3Wr+5%lS>7Ra)A-_T`GU_CT%82gLKO&3AcL%aqaD#+^aLMF#+Y9ypMG"
    "K8WDVwAutq)*#v$1)*(9>L|4@{bXzjT`vGiS9}vlVBT>KGH}5Rex)zLt@Qes9JzIFZUI#ks!tff$te4W(WqNO>FS^Qzj2r>l=4$7R<9J$E4zZjFf6CGJd>Q6"
    ";pcDEt!O|gECCk*6ah%2q9dN^MhRP~-*44Tt!&Xekx;rb1BLBx9R@d;N1k~#3<ihWJfV<CB(hzPP9$A$NaeCcDr1JCR2y8USYf*ciCC=A3Rz^0#<s<8Ws5{t"
    "gZmS*JDqT)nlewLq9mSa6t=?_Zu^T8nx|2bj%T`2CRQug3ixA#S3}_k^Z3LwT`D6`$OhYBTea@pxe|AKy;^s{*63o;MG;w}J8X?>3xoYp8Gr57Zm(=r)zD}h"
    "N|`4Tia0dpGoR*ev%%IVT&-TT#UYU`MhTPJC82rbnOViPs>+JQkm|}jk;o_*Y?RyTq+$r!sUk~^a$Bv|HMYR^w@$g{iG<3hnY5S8C!U$L7K^KS<e5Ph1{*A4"
    "9(kr~Y}caEJn~F7*zRFbgwY*#FpvKN&H@pVMyQy9(-Xu1m&=_>xdcB21mvOP_QfnomkL~)4Igp9g{v<vW#afGXaFHs;Z({J#YxzbB0+Lwwa{Q;0F&+20RVZk"
    "-~{Ahq-;vsS{OGpOP+h*pZD|4pL5=M|Norx-n{SK`3CE}_y0VUGk^ZQ^PT^FJuh?KdC7V3)A-tW8c+I`zudj^zB!x>#JPN69L`Gn&2hZ{X#cz4f8RHL<NwdQ"
    "y!RXL9lskGzj6GZdCu>@AII<B{l`7;oOcGkZ~Py>FYx_%|K4%@#=tk{{KoO-J(=&Xudh^VI}D7D7_D_?tN~*XWpMjZD|k6IIZ4yh%*>3x@2j;IAc4mQ$5g{5"
    "f@6XEf30=U&O`6I_mAU81_=K5@4C|pvawu{&`*f}o_|!CrYWp-il%iR)7u3rKqBqL*qq*f=gsrpeaHRxZofO=j(3`-M;S5l?s>;(?}PqvYrk9YX|LD&f1Rc&"
    "ilV*OdZ_m?&V4?gFJ1N~U|h-V8~QYz`}%K5KIx46`DGi-lfEI|dGDR`{{L^g=iPsI{-1aL{QWn7{+;vqW$RsDFE+NWmWHjv|NlnCmVf<Obg%b;zhL-x`{;GA"
    "_Cz1=^<s=9Kh^3QH9Uk(E}lE5R+-k{0sd0n-(^uM&m34*;Se-}><FWwA??<fXyPWCxK`C62UmF0)!T%nQ?z$>ri5Wwr)f_Kt6HZ$7>3b?fPQ{_df+VCwt#VB"
    "Z;1PN4_alSLIr5R!1sEukFt;{l}aEWptT+grASc}eNy(M4emlAc9m)!CId1n=LUp}A&R1Cn)bw|bSX$|*yz1?-GhGC)m=Dvd+WXTqKG~QLJUO#1`Kf=$3kwL"
    "{^*fR>d>*Zl@tObnM@|bz_45i5@c%&#|<lO{s90OPIxp*|NlW+W%Be9Zc%V^z`XtM*s+v@7~%i_DQQb-n+Xv?IhT4%at>5Uk%wyPLQaXMT|a)j@iD`;R3X*+"
    "B*63nK`#o8EEq<6JW{^rkF!=)p9Eo>|9({!?R{@atEyI2t*ZY|fyj%|iRS+w{CChI0<uHSkRe!Bcy)|$Wb}tOBb-!-g@p|WprmZ=Rg@uV1!>9U(4r#re}C?2"
    "U&zFCc$m6l^#6Q|{pbImu;6nkgq*>`p{7QFiz{%b(VTNgAwx1Fp^U;L#T<}=5i;6265!yWnu8euB90j%Cy;<_QkY@ib+&o<=)Er4XtQ3{0(kNe!1hI<^)loq"
    "zRUq+rvvv1Y1DVzca3Z-Tv0aZKnZ(EaS<TyDMRdnK_|;)K;nF10v@TtYun6l;dD~8@U`qyZ#c#gA2A`<9wtP-E35fnMrs!%ZPgxpNI>)Kq9BnPY)NRUrWXdO"
    "#K8qXozsCzSycVSY#J|Q<SO~{<K6j7gCqguN|ds{WMKd7ez3nR|6qbRj>FK^=PUBdCG3Af&tj@E0{>p%5sGPyr-L~iHVlfXCNX1jp&~i-9GrM;e?R9M{)T+X"
    "=5Qu-W&Eqvj!G!CFa0E0$pQdX0001cB1U0jbaNs)dm?UMb75_8Y-MvIIy5*iEFxoXc4cy9WM6Y4Ix#jdE-)-2ZeMI=W^`X~b#x*+Ff1ZuVR>^RIwCPLAa`$a"
    "YiVw0AY@^Ab0U3xJByfz"
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
    assert METHOD == 4421
