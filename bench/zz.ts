import { precompilesAt } from "../src/evm/precompiles/index.ts";
import { loadMcl } from "../src/crypto/mcl.ts";
import { bls12_381 as c } from "@noble/curves/bls12-381.js";
import { bigintToFixedBytes as b, concatBytes } from "../src/primitives/bytes.ts";
const el=(v:bigint)=>b(v,64); const g1=(p:any)=>{const {x,y}=p.toAffine();return concatBytes(el(x),el(y))}; const g2=(p:any)=>{const {x,y}=p.toAffine();return concatBytes(el(x.c0),el(x.c1),el(y.c0),el(y.c1))};
const P1=Array.from({length:8},(_,i)=>g1(c.G1.Point.BASE.multiply(12345678901234567890n*BigInt(i+1)))), P2=Array.from({length:8},(_,i)=>g2(c.G2.Point.BASE.multiply(12345678901234567890n*BigInt(i+1))));
const S=Array.from({length:64},(_,i)=>b((0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000n*BigInt(1000-i*7))/1001n,32));
const by=(n:string)=>[...precompilesAt("osaka").values()].find(p=>p.name===n)!;
function t(name:string,input:Uint8Array){const p=by(name);const gas=Number(p.gas(input)); let best=1e9; for(let k=0;k<4;k++){const s=process.cpuUsage();let n=0;let ms=0;do{p.run(input);n++;const u=process.cpuUsage(s);ms=(u.user+u.system)/1000}while(ms<60);best=Math.min(best,ms*1e6/n/gas)} return best.toFixed(1)}
const cyc=(a:Uint8Array[],i:number)=>a[i%a.length]!;
for(const k of [] as number[]) {} for(const k of [128].slice(1).concat([] as number[]) as number[]) for (const _ of [1,2,4,8,9,10,16,32,128,300]){const i1=concatBytes(...Array.from({length:k},(_,i)=>concatBytes(cyc(P1,i),cyc(S,i)))),i2=concatBytes(...Array.from({length:k},(_,i)=>concatBytes(cyc(P2,i),cyc(S,i)))); console.log(k,"g1msm",t("BLS12_G1MSM",i1),"g2msm",t("BLS12_G2MSM",i2));}
for(const k of [1,2,8]) console.log(k,"pairing",t("BLS12_PAIRING_CHECK",concatBytes(...Array.from({length:k},(_,i)=>concatBytes(cyc(P1,i),cyc(P2,i))))));
console.log("g1add",t("BLS12_G1ADD",concatBytes(P1[0]!,P1[1]!)),"g2add",t("BLS12_G2ADD",concatBytes(P2[0]!,P2[1]!)));
import { blsWorkspace } from "../src/crypto/bls12-381.ts";
import { blsGroups } from "../src/crypto/bls12-381-points.ts";
{ const {mcl}=blsWorkspace(); const x=mcl.module as any; const K=128; const q=mcl.reserve(288*K), s=mcl.reserve(32*K), r=mcl.reserve(600);
 const us=(f:()=>void)=>{let best=1e9;for(let k=0;k<12;k++){const s=process.cpuUsage();let n=0,ms=0;do{f();n++;const u=process.cpuUsage(s);ms=(u.user+u.system)/1000}while(ms<25);best=Math.min(best,ms*1e3/n)}return best};
 for(let i=0;i<K;i++) mcl.readScalar(s+32*i,S[i%64]!,0);
 for (const [n,d,P] of [["G1",1,P1],["G2",2,P2]] as const) {
  for(let i=0;i<K;i++){ for(let j=0;j<2*d;j++) mcl.readField(q+144*d*i+48*j,P[i%8]!,64*j+16); x.mclBnFp_setInt32(q+144*d*i+96*d,1); if(d===2) x.mclBnFp_setInt32(q+144*d*i+96*d+48,0);} 
  console.log(n,"mcl order",us(()=>x[`mclBn${n}_isValidOrder`](q)).toFixed(0),"ours",us(()=>blsGroups()[n==="G1"?"g1":"g2"].isInSubgroup(P[0]!,0)).toFixed(0));
  for (const k of [1,8,128]) { const inp=concatBytes(...Array.from({length:k},(_,i)=>P[i%8]!)); const terms=Array.from({length:k},(_,i)=>({offset:i*128*d,scalar:BigInt("0x"+Buffer.from(S[i%64]!).toString("hex"))}));
   console.log(n,k,"mcl mulVec",(us(()=>x[`mclBn${n}_mulVec`](r,q,s,k))/k).toFixed(0),"ours",(us(()=>blsGroups()[n==="G1"?"g1":"g2"].multiply(inp,terms,()=>{}))/k).toFixed(0)); }
 }
 console.log(Object.keys(x).filter(k=>/GT/.test(k)).join(" "));
}
