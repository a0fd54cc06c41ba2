import { writeExamples, readExamples } from "./answers.ts";
import { recordNetworkExamples } from "./record-network.ts";
writeExamples(await recordNetworkExamples(), readExamples());
