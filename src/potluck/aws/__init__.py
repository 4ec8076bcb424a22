"""What Potluck on AWS is made of besides the web processes: its tables, its policies, and its functions."""
