extern int sample_data;

int main(void) { return sample_data == 0; }
