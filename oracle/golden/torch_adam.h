// What PyTorch computes in binary64 for a small problem under Adam (without decay) and AdamW, one
// row a step. Data only. Made by golden/torch_adam.py with torch 2.13.0+cpu on 2026-11-21.
#pragma once

namespace adamant::torch_golden {

inline constexpr int steps = 4;
inline constexpr int numel = 8;

inline constexpr float start[numel] = {
    0x1.c1786c0000000p-3,  -0x1.8ea5fc0000000p-2, 0x1.8635ca0000000p+0, 0x1.23f81c0000000p+0,
    -0x1.3e15fe0000000p-1, -0x1.b2dab60000000p-2, 0x1.a344780000000p+0, -0x1.1cb65e0000000p+0};
inline constexpr float gradients[steps][numel] = {
    {0x1.46e9100000000p+1, 0x1.4a3c5c0000000p-4, 0x1.1c85dc0000000p-11, 0x1.abe5080000000p+3,
     -0x1.502ea40000000p+4, -0x1.edd09a0000000p-1, 0x1.0cae240000000p-7, -0x1.325b300000000p-8},
    {0x1.24b5fa0000000p-13, -0x1.720ace0000000p+0, -0x1.b07fc20000000p+1, -0x1.2376d20000000p-9,
     0x1.410f640000000p+3, -0x1.e145a80000000p-9, 0x1.b519e00000000p-2, -0x1.32f8f40000000p-7},
    {-0x1.d71c600000000p+3, -0x1.7eea3c0000000p+3, 0x1.2e654e0000000p-8, 0x1.00d6aa0000000p+4,
     -0x1.7926360000000p+1, 0x1.c99f8c0000000p-9, 0x1.f721e40000000p-12, 0x1.8bafdc0000000p-2},
    {0x1.60f0e60000000p-7, 0x1.78141e0000000p-8, -0x1.5d0c100000000p+4, 0x1.0d23520000000p-2,
     -0x1.91d2f00000000p+3, 0x1.5d3cf20000000p+6, -0x1.8ea9ca0000000p+0, 0x1.11466e0000000p-12}};

// Both have the same moments: decay touches none.
inline constexpr double exp_avg[steps][numel] = {
    {0x1.058744161d000p-2, 0x1.08304dba5ac00p-7, 0x1.c73c9a5025800p-15, 0x1.5650d88c76800p+0,
     -0x1.0cf2210095400p+1, -0x1.8b0d4e2c35200p-4, 0x1.ade373845a800p-11, -0x1.ea2b87a8ae000p-12},
    {0x1.d6c797e358755p-3, -0x1.192c58477513fp-3, -0x1.59f3061a1442ep-2, 0x1.3406fc6ac3380p+0,
     -0x1.c68233803364dp-1, -0x1.650cfd7c94f60p-4, 0x1.63b9eb7a4c404p-5, -0x1.63ddc55e72a5ap-10},
    {-0x1.43ed11b1846d9p+0, -0x1.51f6cb76821aap+0, -0x1.36e1c2d266caep-2, 0x1.5815495b85605p+1,
     -0x1.17f56f994edb1p+0, -0x1.3fea63eb95464p-4, 0x1.408bf3c2265d2p-5, 0x1.328a783663e5dp-5},
    {-0x1.2341f8d57e013p+0, -0x1.30054e2caf24fp+0, -0x1.3a3643d1e079ep+1, 0x1.3909ff5c97b0ap+1,
     -0x1.1eb607b650b2bp+1, 0x1.152420111ae87p+3, -0x1.ed9d86202fc6ep-4, 0x1.1419ad00638a5p-5}};
inline constexpr double exp_avg_sq[steps][numel] = {
    {0x1.ab79e40a7742ap-8, 0x1.b4379163dfab8p-18, 0x1.43cf15d0e7525p-32, 0x1.6e2ed61572b46p-3,
     0x1.c4116b02110eep-2, 0x1.e7b32ecc924efp-11, 0x1.20c0a7d674c0dp-24, 0x1.77696232f047cp-26},
    {0x1.ab0c7568c0fdep-8, 0x1.12b5c79746dcep-9, 0x1.761b268410ec9p-7, 0x1.6dd118e3ed383p-3,
     0x1.1558dd3060d97p-1, 0x1.e738248c28ec0p-11, 0x1.7e40294aafb6fp-13, 0x1.d6aebf481c51fp-24},
    {0x1.c93791170abd0p-3, 0x1.298833a48e682p-3, 0x1.75bb8f235512cp-7, 0x1.be96122da774ap-2,
     0x1.1983c82d630fap-1, 0x1.e6bd0d62fe407p-11, 0x1.7dde6e144fd57p-13, 0x1.395ca4d375ad6p-13},
    {0x1.c8c294de91e2dp-3, 0x1.293c0d4105582p-3, 0x1.f2ff2b82d5e82p-2, 0x1.be35dae0885cap-2,
     0x1.69f6a65c6813cp-1, 0x1.e7ec075c261fep+2, 0x1.55b41f2ef8965p-9, 0x1.390c75f0bca34p-13}};
inline constexpr double adamw_param[steps][numel] = {
    {0x1.bf6afbb3835bbp-3, -0x1.8fab1b99c4ac6p-2, 0x1.85f3415d3f0e3p+0, 0x1.23b5d37033d47p+0,
     -0x1.3d921b1b0b067p-1, -0x1.b1d37425b975ap-2, 0x1.a301dc0854614p+0, -0x1.1c741a3ae083fp+0},
    {0x1.be0a835264e11p-3, -0x1.8ef117e0cf5ddp-2, 0x1.8623048bf059bp+0, 0x1.23892ca0c5a57p+0,
     -0x1.3d6c1783d5135p-1, -0x1.b121f31a35034p-2, 0x1.a2cf2f64d370ap+0, -0x1.1c34225cfd71dp+0},
    {0x1.bf250011d2abap-3, -0x1.8e38a7a5bc799p-2, 0x1.8647a7689f949p+0, 0x1.235289ec9c5cdp+0,
     -0x1.3d443ab8918cap-1, -0x1.b0991887c1a77p-2, 0x1.a2a7b9420920ap+0, -0x1.1c5beef33169dp+0},
    {0x1.c00bf7afcaef1p-3, -0x1.8da176c0718cdp-2, 0x1.867101797ff4ap+0, 0x1.23252c976eca3p+0,
     -0x1.3d033fe03296fp-1, -0x1.b12f178d9413dp-2, 0x1.a2c313d07e066p+0, -0x1.1c7c6d9b3e842p+0}};
inline constexpr double adam_param[steps][numel] = {
    {0x1.bf6c22442270dp-3, -0x1.8fac20dbde7fcp-2, 0x1.85f44117a43d0p+0, 0x1.23b692c880d28p+0,
     -0x1.3d92eb91010bfp-1, -0x1.b1d491222d99ap-2, 0x1.a302eecdbcf3fp+0, -0x1.1c74d4d1b0149p+0},
    {0x1.be0ccf1b490fdp-3, -0x1.8ef3231024433p-2, 0x1.862503d520353p+0, 0x1.238aab25ef1d4p+0,
     -0x1.3d6db81952448p-1, -0x1.b1242c66960ecp-2, 0x1.a2d154c3fd688p+0, -0x1.1c35975f2f32bp+0},
    {0x1.bf28702bfd427p-3, -0x1.8e3bb84864611p-2, 0x1.864aa65fe7519p+0, 0x1.2354c7815f029p+0,
     -0x1.3d46ab54ac377p-1, -0x1.b09c6dafbb5bfp-2, 0x1.a2aaf119bebe1p+0, -0x1.1c5e1e36d9445p+0},
    {0x1.c0108cd45d6f4p-3, -0x1.8da58c5d8cd53p-2, 0x1.86750036e21b2p+0, 0x1.23282917fc4a5p+0,
     -0x1.3d068068caeb0p-1, -0x1.b1338837762f6p-2, 0x1.a2c75e06e2c03p+0, -0x1.1c7f573a71a98p+0}};

}  // namespace adamant::torch_golden
