/** Linear layers that may have adapters, by PEFT's names: all except the output matrix (PEFT's "all-linear"). */
export const targetModules = [
  ...["q_proj", "k_proj", "v_proj", "o_proj"],
  ...["gate_proj", "up_proj", "down_proj"],
] as const;
